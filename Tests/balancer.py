"""A load balancer without any wisdom, for nodes that share a database: connections go to one node after the
other, one that refuses is passed over, and when one side ends the other one is cut."""

import asyncio
import threading


class Balancer:
    """Relays connections to the ports of nodes on this machine; listens at `url`."""

    def __init__(self, ports):
        self._ports = list(ports)
        self._next = 0
        listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(listening)), daemon=True)
        self._thread.start()
        assert listening.wait(5), "the balancer does not listen"

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def close(self):
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(5)

    async def _serve(self, listening):
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._relay, "127.0.0.1", 0) as server:
            self._port = server.sockets[0].getsockname()[1]
            listening.set()
            await self._closing.wait()

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

    async def _relay(self, reader, writer):
        try:
            node = await self._connect()
            if node is None:
                return
            their_reader, their_writer = node
            ways = [
                asyncio.create_task(self._pass_on(reader, their_writer)),
                asyncio.create_task(self._pass_on(their_reader, writer)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            their_writer.transport.abort()
        finally:
            writer.transport.abort()

    @staticmethod
    async def _pass_on(reader, writer):
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
