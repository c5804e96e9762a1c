"""Clients whose heads and bodies do not arrive hold no place that a whole request needs."""

import http.client
import json
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest
from programs import ZUMO, free_port

SLOW = 2000
# Seconds in which an honest client is served. What this is about kept it waiting for 4 to 10.
PROMPT = 1.0
# Seconds in which slow clients send a byte now and then, and honest ones are served.
SPAN = 8


@pytest.fixture(scope="module")
def proxy(start_shared):
    proxy = start_shared.proxy(f"http://127.0.0.1:{free_port()}", "--sync", "manual")
    proxy.insert({"id": "small", "text": "x"})
    return proxy


HEAD = b"GET /tables/todoitem HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
POST = (b"POST /tables/todoitem HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"ZUMO-API-VERSION: 2.0.0\r\n")
KINDS = {
    "fields": HEAD,
    "long bodies": POST + b'Content-Length: 1000000\r\n\r\n{"text":"' + b"x" * 40_000,
}


@contextmanager
def slow_clients(port, beginning, after=b""):
    """Clients that connect, send `after` and read its answer, begin a request, and go on byte by byte. One that is cut
    comes again."""
    wires, ended = [], threading.Event()

    def connect():
        wire = socket.create_connection(("127.0.0.1", port), timeout=10)
        if after:
            wire.sendall(after)
            wire.recv(4096)
        wire.sendall(beginning)
        wire.setblocking(False)
        return wire

    def drip():
        while not ended.is_set():
            for place, wire in enumerate(wires):
                if ended.is_set():
                    return
                try:
                    wire.send(b"x")
                except BlockingIOError:
                    pass
                except OSError:
                    wire.close()
                    with suppress(OSError):
                        wires[place] = connect()
            ended.wait(0.2)

    with ExitStack() as stack:
        for _ in range(SLOW):
            with suppress(OSError):
                wires.append(connect())
        stack.callback(lambda: [wire.close() for wire in wires])
        dripping = threading.Thread(target=drip)
        dripping.start()
        stack.callback(dripping.join)
        stack.callback(ended.set)
        yield


def served(wire):
    """How long a read and a write take together."""
    began = time.monotonic()
    for method, path, body, status in (("GET", "/tables/todoitem/small", None, 200),
                                       ("POST", "/tables/todoitem", json.dumps({"text": "y"}), 201)):
        wire.request(method, path, body, {"Content-Type": "application/json", **ZUMO})
        answer = wire.getresponse()
        answer.read()
        assert answer.status == status
    return time.monotonic() - began


@pytest.mark.parametrize("kind", KINDS)
def test_honest_clients_are_served_beside_slow_ones(proxy, kind):
    kept = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    served(kept)
    socket_of_kept = kept.sock
    with slow_clients(proxy.port, KINDS[kind]):
        took = []
        end = time.monotonic() + SPAN
        while time.monotonic() < end:
            fresh = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
            took.append(("new", served(fresh)))
            fresh.close()
            took.append(("kept", served(kept)))
            time.sleep(0.25)
        worst = max(seconds for _, seconds in took)
        print(f"{kind}: {len(took)} clients, the slowest {worst:.2f} s")
        assert worst < PROMPT, sorted(took, key=lambda one: -one[1])[:5]
        assert kept.sock is socket_of_kept, "the kept connection was closed"
    kept.close()


def test_slow_clients_on_kept_connections_leave_places_to_others(proxy):
    first = HEAD[:-len(b"X-Slow: ")] + b"\r\n"
    with slow_clients(proxy.port, KINDS["fields"], after=first):
        for _ in range(10):
            fresh = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
            assert served(fresh) < PROMPT
            fresh.close()
