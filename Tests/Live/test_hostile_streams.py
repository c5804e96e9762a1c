"""A backend whose stream of changes is hostile: the proxy takes little of the processor, and asks seldom."""

import os
import time

import pytest
import requests
from hostile import HTTPBackend
from programs import ZUMO, wait_until


def change(table="todoitem"):
    return b'event: change\ndata: {"table":"%s","updatedAt":"2099-01-01T00:00:00.000Z"}\n\n' % table.encode()


# What comes again and again on the stream of changes. The last one ends each time at once.
STREAMS = {
    "heartbeats": b": \n\n" * 4096,
    "changes": change() * 200,
    "changes of many tables": b"".join(change(f"t{number}") for number in range(200)),
    "resets": b"event: reset\ndata: {}\n\n" * 400,
    "noise": bytes(range(256)) * 64,
    "an end": b"retry: 0\n\n" + change(),
}
# Seconds in which the processor's time is measured. What this is about took all of it, and 19 requests a second.
SPAN = 7


def processor_seconds(proxy):
    with open(f"/proc/{proxy.program.process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("kind", STREAMS)
def test_a_hostile_stream_of_changes_takes_little(start, kind):
    piece, end = STREAMS[kind], time.monotonic() + 60

    def behave(handler, body):
        if not handler.path.startswith("/tables/changes"):
            return handler.answer(200, b"[]")
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        handler.wfile.write(piece)
        while kind != "an end" and time.monotonic() < end:
            handler.wfile.write(piece)

    server = HTTPBackend(behave)
    proxy = start.proxy(server.url, "--table", "todoitem")

    def asked(path):
        return sum(one[1].startswith(path) for one in server.requests)

    wait_until(lambda: asked("/tables/changes"), 30, "the stream is asked for")
    wait_until(lambda: asked("/tables/todoitem"), 30, "the first pull")
    time.sleep(2)
    used, streams, lists = processor_seconds(proxy), asked("/tables/changes"), asked("/tables/todoitem")
    time.sleep(SPAN)
    used, streams = processor_seconds(proxy) - used, asked("/tables/changes") - streams
    lists = asked("/tables/todoitem") - lists
    print(f"{kind}: {used:.2f} s of {SPAN}, {streams} streams, {lists} lists")
    assert used < SPAN / 3
    assert streams <= 8
    # A pull of an empty table is at most two requests.
    assert lists <= 2 * (1 + SPAN // 5)
    assert requests.get(f"{proxy.url}/tables/todoitem", headers=ZUMO, timeout=10).status_code == 200
    server.shutdown()
