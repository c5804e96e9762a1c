"""A relay in front of a server that refuses, cuts and delays connections, like a bad network."""

import asyncio
import random

from relay import Relay


class TornWire(Relay):
    """Relays connections to a port, with random faults until `mend()`."""

    # Of a hundred connections: refused, cut in the answer, cut in the request, held up.
    REFUSED, ANSWER_CUT, REQUEST_CUT, HELD_UP = 6, 10, 6, 8
    MOST_BYTES = 20_000
    MOST_SECONDS = 0.3

    def __init__(self, port, seed):
        self._target = port
        self._random = random.Random(seed)
        self._torn = True
        super().__init__()

    def mend(self):
        self._torn = False

    async def relay(self, reader, writer):
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
            server = await asyncio.open_connection("127.0.0.1", self._target)
            await self.pass_on((reader, writer), server, upwards, downwards)
            server[1].close()
        except OSError:
            pass  # Without the server the connection is closed.
        finally:
            writer.close()
