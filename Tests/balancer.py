"""A load balancer without health checks, for nodes that share a database: connections go to one node after the
other, one that refuses is passed over, and when one side ends the other one is cut."""

import asyncio

from relay import Relay


class Balancer(Relay):
    """Relays connections to the ports of nodes on this machine."""

    def __init__(self, ports):
        self._ports = list(ports)
        self._next = 0
        super().__init__()

    async def _connect(self):
        """A connection to the next node that takes one; None where all refuse."""
        for _ in self._ports:
            port = self._ports[self._next % len(self._ports)]
            self._next += 1
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                pass
        return None

    async def relay(self, reader, writer):
        try:
            node = await self._connect()
            if node is not None:
                await self.pass_on((reader, writer), node)
                node[1].transport.abort()
        finally:
            writer.transport.abort()
