"""A backend that sends arbitrary answers: the proxy keeps running, stays small, and serves other clients."""

import functools
import gzip
import json
import time
import zlib

import pytest
import requests
from hostile import HTTPBackend
from programs import ZUMO, wait_until

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
ROW = {"id": "a", "version": "AAAAAAAAB9E=", "deleted": False, "updatedAt": "2024-01-01T00:00:00.000Z"}


def says(body, status=200, fields=()):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda handler, _: handler.answer(status, data, fields)


def huge(handler, _):
    handler.send_response(200)
    handler.send_header("Content-Length", str(200 << 20))
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b'[{"id":"' + b"a" * (1 << 20))


def endless(handler, _):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while True:
        handler.wfile.write(piece)


def drip(handler, _):
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(40):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.25)


@functools.cache
def bomb():
    """A gibibyte, compressed to a thousandth."""
    packer = zlib.compressobj(1, wbits=31)
    piece = b" " * (1 << 20)
    return b"".join(packer.compress(piece) for _ in range(1024)) + packer.flush()


def long_head(handler, _):
    handler.send_response(200)
    for number in range(4000):
        handler.send_header(f"X-{number}", "x" * 100)
    handler.end_headers()


def torn(handler, _):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[{")
    handler.close_connection = True


def noise(handler, _):
    handler.wfile.write(bytes(range(256)) * 64)
    handler.close_connection = True


BEHAVIOURS = {
    "huge": huge,
    "endless": endless,
    "a drop at a time": drip,
    "a long head": long_head,
    "torn": torn,
    "noise": noise,
    "nested": says(b"[" * 300_000 + b"]" * 300_000),
    "a nested row": says(b'[{"id":"a","x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}]"),
    "a number for a list": says(b"1"),
    "a text for a list": says(b'"rows"'),
    "null for a list": says(b"null"),
    "no JSON": says(b"<html>"),
    "half of JSON": says(b'[{"id":"a"'),
    "bytes that are no text": says(b'[{"id":"\xff\xfe"}]'),
    "rows that are none": says([1, "x", None, [], True]),
    "an id of another type": says([{**ROW, "id": {"a": 1}}, {**ROW, "id": [1]}, {**ROW, "id": None}]),
    "times of another type": says([{**ROW, "updatedAt": 5, "deleted": "yes", "version": {"a": 1}}]),
    "an impossible time": says([{**ROW, "updatedAt": "9999999-99-99T99:99:99Z"}]),
    "numbers beyond counting": says(b'[{"id":"a","n":1e999999,"m":-' + b"9" * 100_000 + b"}]"),
    "an id with control characters": says([{**ROW, "id": "a\u0000b\r\nX: y"}]),
    "a very long id": says([{**ROW, "id": "i" * 1_000_000}]),
    "the same row for ever": says([ROW] * 50),
    "very many columns": says([{**ROW, **{f"c{number}": 1 for number in range(5000)}}]),
    "columns with the names of SQL": says([{**ROW, "x'); DROP TABLE rows;--": 1, "": 2, "a\"b": 3}]),
    "script in every field": says([{key: SCRIPT if isinstance(value, str) else value for key, value in ROW.items()}]),
    "an odd status": says(b"[]", status=299),
    "a status beyond all": says(b"[]", status=999),
    "an error with script": says({"error": SCRIPT}, status=400),
}


# A bomb takes seconds, so only the test that needs it makes it.
BOMBS = {
    "a bomb": lambda: says(bomb(), fields={"Content-Encoding": "gzip"}),
    "a bomb in a bomb": lambda: says(gzip.compress(bomb()), fields={"Content-Encoding": "gzip, gzip"}),
}


# These exceed the limit of a body, so they are no answer.
TOO_MUCH = {"huge", "endless", "a bomb", "a bomb in a bomb", "a long head"}


def highest_mebibytes(proxy):
    """The peak memory of the process."""
    with open(f"/proc/{proxy.program.process.pid}/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) >> 10


@pytest.fixture(scope="module")
def pair(start_shared):
    """One proxy for all tests: a test finds what an earlier answer broke."""
    backend = HTTPBackend()
    yield backend, start_shared.proxy(backend.url, "--sync", "manual")
    backend.shutdown()


@pytest.mark.parametrize("name", [*BEHAVIOURS, *BOMBS])
def test_a_hostile_answer_affects_no_other_client(pair, name):
    backend, proxy = pair
    backend.behaviour = BOMBS[name]() if name in BOMBS else BEHAVIOURS[name]
    accepted = proxy.status()["ledger"]["accepted"]
    run = proxy.operator("POST", "/sync?wait=0", expect=None, json={})
    passing = None
    if name not in ("huge", "endless", "a drop at a time"):
        passing = requests.get(proxy.url + "/api/x", headers=ZUMO, timeout=20, stream=True)
        passing.close()
    # Meanwhile other clients are served, and a write is acknowledged.
    item = proxy.insert({"text": f"during {name}"})
    assert proxy.get(item["id"]).json()["text"] == f"during {name}"
    assert requests.get(proxy.url + "/-/readyz", timeout=5).status_code == 200
    run_id = run["id"]
    wait_until(
        lambda: proxy.operator("GET", f"/runs/{run_id}")["state"] != "running", 45, "the end of the run"
    )
    status = proxy.status()
    assert status["ledger"]["balances"] and status["ledger"]["accepted"] >= accepted + 1
    if name in TOO_MUCH:
        assert proxy.operator("GET", f"/runs/{run_id}")["state"] == "offline"
        assert status["ledger"]["applied"] == 0
    assert highest_mebibytes(proxy) < 700, name
    backend.behaviour = says(b"[]")


def test_a_backend_that_ignores_queries_is_pulled_with_a_warning(pair):
    backend, proxy = pair
    rows = [{**ROW, "id": f"all{n}", "updatedAt": f"2024-01-01T00:00:00.{n}Z"} for n in range(100, 160)]
    backend.behaviour = says(rows)
    backend.requests.clear()
    proxy.operator("POST", "/tables/everything/pull?wait=20", json={})
    assert {row["id"] for row in rows} == {row["id"] for row in proxy.all("everything")}
    pages = [path for _, path, *_ in backend.requests if "/everything?" in path and "orderby" in path]
    assert len(pages) == 4
    table = next(line for line in proxy.command("tables").stdout.splitlines() if "all rows" in line)
    assert table.strip().endswith("every pull takes the whole table.")
    backend.behaviour = says(b"[]")


def test_script_in_a_field_is_text_on_the_api(pair):
    backend, proxy = pair
    answer = requests.get(proxy.url + "/tables/todoitem", headers=ZUMO, timeout=10)
    assert answer.headers["Content-Type"].startswith("application/json")
    answer = requests.get(
        proxy.url + "/-/api/v1/tables/todoitem/items", timeout=10,
        headers={"Authorization": f"Bearer {proxy.token}"},
    )
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_all_writes_during_the_hostile_answers_are_there(pair):
    backend, proxy = pair
    texts = {row["text"] for row in proxy.all() if row.get("text")}
    assert {f"during {name}" for name in [*BEHAVIOURS, *BOMBS]} <= texts
