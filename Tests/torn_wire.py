"""A relay in front of a server that refuses, cuts and delays connections, like a bad network."""

import asyncio
import random
import threading


class TornWire:
    """Relays connections to a port, with random faults until `mend()`; listens at `url`."""

    # Of a hundred connections: refused, cut in the answer, cut in the request, held up.
    REFUSED, ANSWER_CUT, REQUEST_CUT, HELD_UP = 6, 10, 6, 8
    MOST_BYTES = 20_000
    MOST_SECONDS = 0.3

    def __init__(self, port, seed):
        self._target = port
        self._random = random.Random(seed)
        self._torn = True
        listening = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listening)), daemon=True
        )
        self._thread.start()
        listening.wait(5)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def mend(self):
        self._torn = False

    def close(self):
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(5)

    async def _serve(self, listening):
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._relay, "127.0.0.1", 0) as server:
            self._port = server.sockets[0].getsockname()[1]
            listening.set()
            await self._closing.wait()

    async def _relay(self, reader, writer):
        fate = self._random.randrange(100) if self._torn else 100
        bytes_left = self._random.randrange(self.MOST_BYTES)
        upwards = downwards = None
        try:
            if (fate := fate - self.REFUSED) < 0:
                return
            if (fate := fate - self.ANSWER_CUT) < 0:
                downwards = bytes_left
            elif (fate := fate - self.REQUEST_CUT) < 0:
                upwards = bytes_left // 8
            elif (fate := fate - self.HELD_UP) < 0:
                await asyncio.sleep(self._random.random() * self.MOST_SECONDS)
            their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self._target)
            ways = [
                asyncio.create_task(self._pass_on(reader, their_writer, upwards)),
                asyncio.create_task(self._pass_on(their_reader, writer, downwards)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            their_writer.close()
        except OSError:
            pass  # Without the server the connection is closed.
        finally:
            writer.close()

    @staticmethod
    async def _pass_on(reader, writer, limit):
        """Relays bytes to the end, at most `limit` of them."""
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
