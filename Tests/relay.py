"""A relay of connections on this machine, in a thread of its own. What happens to a connection is up to the
class that relays it."""

import asyncio
import threading


class Relay:
    """Listens at `url` until `close()`, and gives each connection to `relay`."""

    def __init__(self):
        listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(listening)), daemon=True)
        self._thread.start()
        assert listening.wait(5), "the relay does not listen"

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def close(self):
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(5)

    async def _serve(self, listening):
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self.relay, "127.0.0.1", 0) as server:
            self._port = server.sockets[0].getsockname()[1]
            listening.set()
            await self._closing.wait()

    async def relay(self, reader, writer):
        raise NotImplementedError

    @classmethod
    async def pass_on(cls, client, server, upwards=None, downwards=None):
        """Relays both ways until one side ends, or has sent more bytes than its limit."""
        (reader, writer), (their_reader, their_writer) = client, server
        ways = [
            asyncio.create_task(cls._one_way(reader, their_writer, upwards)),
            asyncio.create_task(cls._one_way(their_reader, writer, downwards)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()

    @staticmethod
    async def _one_way(reader, writer, limit):
        try:
            while data := await reader.read(65_536):
                if limit is not None and len(data) > limit:
                    writer.write(data[:limit])
                    await writer.drain()
                    return
                limit = None if limit is None else limit - len(data)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
