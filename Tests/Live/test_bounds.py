"""Limits of the running program: each is reached once, and other clients are served meanwhile. Those of a head and of
its fields are in test_raw_requests.py."""

import socket
import time
from contextlib import ExitStack

import pytest
import requests
from programs import ZUMO, free_port, wait_until


@pytest.fixture(scope="module")
def proxy(start_shared):
    # Nothing listens there: these tests are about clients alone.
    proxy = start_shared.proxy(f"http://127.0.0.1:{free_port()}", "--sync", "manual")
    proxy.insert({"id": "small", "text": "x"})
    return proxy


def served(proxy, seconds=8):
    """Another client reads, writes and gets the status without delay."""
    began = time.monotonic()
    url, options = proxy.url + "/tables/todoitem", {"headers": ZUMO, "timeout": 2 * seconds}
    assert requests.get(url + "/small", **options).status_code == 200
    assert requests.post(url, json={"text": "y"}, **options).status_code == 201
    assert requests.get(proxy.url + "/-/readyz", timeout=10).status_code == 200
    assert time.monotonic() - began < seconds


def head(proxy, line="GET /tables/todoitem HTTP/1.1", *fields):
    return "\r\n".join([line, f"Host: 127.0.0.1:{proxy.port}", *fields, "", ""]).encode()


def test_body(proxy):
    at, over = ({"text": "x" * (size - len('{"text": ""}'))} for size in ((1 << 20), (1 << 20) + 1))
    assert proxy.request("POST", "/tables/todoitem", json=at).status_code == 201
    answer = proxy.request("POST", "/tables/todoitem", json=over)
    assert answer.status_code == 413 and answer.json()["error"]
    served(proxy)


# The lists are made first. Readers take every connection, so without the rule no other client would be
# served for a minute.
@pytest.mark.parametrize(("readers", "seconds"), [(60, 8), (160, 25)])
def test_connections_of_slow_readers(proxy, readers, seconds):
    text = "z" * 500_000
    for number in range(8):
        proxy.request("PUT", f"/tables/big/b{number}", json={"text": text})
        proxy.request("POST", "/tables/big", json={"id": f"b{number}", "text": text})
    with ExitStack() as stack:
        for _ in range(readers):
            wire = socket.socket()
            stack.enter_context(wire)
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.settimeout(5)
            wire.connect(("127.0.0.1", proxy.port))
            wire.sendall(head(proxy, "GET /tables/big HTTP/1.1", "ZUMO-API-VERSION: 2.0.0"))
        served(proxy, seconds)


def test_a_costly_query_does_not_delay_other_clients(proxy):
    slow = {"$filter": "substringof('" + "y" * 500 + "', concat(text, text)) or length(text) eq -1"}
    proxy.request("GET", "/tables/todoitem", params=slow)
    served(proxy)


def test_size_of_a_page(proxy):
    answer = proxy.request("GET", "/tables/todoitem", params={"$top": "999999999"})
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert len(answer.json()) <= 1000
    assert proxy.operator("GET", "/operations?limit=501", expect=400)["detail"]
    assert proxy.operator("GET", "/tables/todoitem/items?top=1001", expect=400)["detail"]
    served(proxy)


def test_event_streams(proxy):
    headers = {"Authorization": f"Bearer {proxy.token}"}
    streams = [
        requests.get(proxy.url + "/-/api/v1/events", headers=headers, stream=True, timeout=10)
        for _ in range(40)
    ]
    assert {one.status_code for one in streams} == {200, 503}
    served(proxy)
    for one in streams:
        one.close()


def test_requests_that_wait_for_a_backend_that_does_not_answer(start):
    hung = socket.create_server(("127.0.0.1", 0), backlog=500)
    proxy = start.proxy(f"http://127.0.0.1:{hung.getsockname()[1]}", "--sync", "manual")
    proxy.insert({"id": "small", "text": "x"})
    with ExitStack() as stack:
        wires = []
        for number in range(200):  # More than the number of connections.
            wire = stack.enter_context(socket.create_connection(("127.0.0.1", proxy.port), timeout=20))
            fields = ["X-ZUMO-AUTH: nobody's"] if number % 2 else []
            line = "GET /tables/other HTTP/1.1" if number % 2 else "GET /api/x HTTP/1.1"
            wire.sendall(head(proxy, line, "ZUMO-API-VERSION: 2.0.0", *fields))
            wires.append(wire)
        served(proxy)
        refused = wires[199].recv(65536)
        assert refused.startswith(b"HTTP/1.1 503") and b"Retry-After" in refused
    hung.close()


def test_disk_budget(start):
    from programs import free_port

    url = f"http://127.0.0.1:{free_port()}"
    proxy = start.proxy(url, "--sync", "manual", "--disk-budget", "10M")
    taken = []
    for _ in range(40):
        answer = proxy.request("POST", "/tables/todoitem", json={"text": "x" * 900_000})
        if answer.status_code != 201:
            break
        taken.append(answer.json()["id"])
    assert answer.status_code == 507, answer.text[:200]
    assert answer.json()["error"]
    assert len(taken) >= 2
    # Every acknowledged write is there, also after a restart, and a write that makes room is taken again.
    assert proxy.status()["ledger"]["accepted"] == len(taken)
    proxy.program.kill()
    proxy.start()
    for id in taken:
        assert proxy.get(id).status_code == 200
    store = proxy.folder / "stores" / "anonymous" / "store.sqlite"
    assert store.stat().st_size <= (10 << 20) * 9 // 8  # Including the reserve for settling operations.
    queue = proxy.operator("GET", "/operations?limit=500")["items"]
    assert len(queue) == len(taken)
    for one in queue:
        body = {"revision": one["revision"]}
        proxy.operator("POST", f"/operations/{one['id']}/discard", json=body)
    wait_until(
        lambda: proxy.request("POST", "/tables/todoitem", json={"text": "small"}).status_code == 201, 10
    )
