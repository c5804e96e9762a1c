"""Paths below an item are the server's own: passed on while it answers, 503 while it does not."""

import json

import pytest
import requests
from hostile import HTTPBackend, honest
from programs import ZUMO


def files(handler, body):
    """A server with the file management of Mobile Apps below its items."""
    if "/MobileServiceFiles" in handler.path or handler.path.endswith("/StorageToken"):
        return handler.answer(200, json.dumps({"path": handler.path, "bytes": len(body)}).encode(), {"X-Own": "kept"})
    return honest(handler, body)


@pytest.fixture
def backend():
    backend = HTTPBackend(files)
    yield backend
    backend.shutdown()


BELOW = [
    ("GET", "/tables/book/a/MobileServiceFiles", b""), ("POST", "/tables/book/a/StorageToken", b'{"Permissions":1}'),
    ("DELETE", "/tables/book/a/MobileServiceFiles/p%20q.jpg?x=%2F", b""),
    ("PUT", "/Tables/book/a%201/MobileServiceFiles/deep/er", b"\x89PNG" * 400_000),
    ("PATCH", "/tables/book/a/MobileServiceFiles/", b"x"),
]


def test_requests_below_an_item_reach_the_server_as_they_came(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    for when in ("before the first pull", "behind it"):
        for method, path, body in BELOW:
            answer = requests.request(
                method, proxy.url + path, data=body, timeout=10,
                headers={**ZUMO, "Content-Type": "image/png", "X-HTTP-Method-Override": "LIST"})
            assert answer.status_code == 200, (when, method, path, answer.text)
            assert answer.headers["X-Own"] == "kept"
            assert answer.json() == {"path": path, "bytes": len(body)}
        proxy.request("GET", "/tables/book")
        proxy.sync()


def test_below_an_item_the_rules_of_tables_hold_for_the_caller(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual", "--tables-access", "capability", "--table", "book")
    _, path, _ = BELOW[0]
    assert requests.get(proxy.url + path, headers=ZUMO, timeout=10).status_code in (401, 403)
    address = proxy.command("access", "add", "phone").stdout.strip()
    assert requests.get(address + path, headers=ZUMO, timeout=10).json()["path"] == path
    other = path.replace("book", "other")
    assert requests.get(address + other, headers=ZUMO, timeout=10).status_code == 404
    foreign = {**ZUMO, "Origin": "http://elsewhere.example"}
    assert requests.get(address + path, headers=foreign, timeout=10).status_code == 403
    assert {one for _, one, _, _ in backend.requests if "Files" in one} == {path}


def test_without_the_server_the_answer_is_503_with_a_time(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    for method, path, body in BELOW:
        answer = requests.request(method, proxy.url + path, data=body, headers=ZUMO, timeout=10)
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
    proxy.operator("POST", "/mode", json={"mode": "online"})
    backend.shutdown()
    backend.server_close()
    for method, path, body in BELOW:
        answer = requests.request(method, proxy.url + path, data=body, headers=ZUMO, timeout=10)
        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0
