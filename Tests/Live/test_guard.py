"""Hostile requests over raw sockets: each is refused with the right status, and none leaves a trace.

One assertion holds for all of them: no row, no operation, no request to the backend.
"""

import itertools
import json
import socket

import pytest
import requests
from programs import wait_until

BODY = b'{"text":"planted"}'


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    from programs import Backend, Proxy

    folder = tmp_path_factory.mktemp("guard")
    backend = Backend(folder / "backend", ["--faults"]).start()
    proxy = Proxy(folder / "proxy", backend.url, ["--sync", "manual"]).start()
    yield proxy, backend
    proxy.program.kill()
    backend.program.kill()


def send(port, raw):
    """Sends bytes as they are and gives the status of the first answer; None when cut."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall(raw)
        answer = b""
        try:
            while b"\r\n" not in answer:
                chunk = wire.recv(65536)
                if not chunk:
                    return None
                answer += chunk
        except ConnectionResetError:
            return None
    return int(answer.split(b" ", 2)[1])


def request(port, method="POST", target="/tables/todoitem", host=None, fields=(), body=BODY):
    lines = [f"{method} {target} HTTP/1.1".encode()]
    if host is not False:
        lines.append(f"Host: {host or f'127.0.0.1:{port}'}".encode())
    lines += [field.encode() if isinstance(field, str) else field for field in fields]
    if body:
        lines += [b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body or b""])


def untouched(proxy, backend):
    status = proxy.status()
    assert status["ledger"]["accepted"] == 0
    assert status["tables"] == []
    effects = backend.request("GET", "/-/effects").json()
    assert effects["effects"] == []
    writes = {k: v for k, v in effects["requests"].items() if k not in ("GET", "PUT")}
    assert writes == {}


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "localhost.evil.example:{port}",
    "127.0.0.1.nip.io:{port}",
    "0.0.0.0:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "127.0.0.1.:{port}",
    "LOCALHOST:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "user@127.0.0.1:{port}",
]
ORIGINS = ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"]
SITES = ["cross-site", "same-site"]
TARGETS = ["/tables/todoitem", "/tables/todoitem/a", "/-/api/v1/sync", "/api/custom", "/.auth/x"]
METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"]
JSON = "Content-Type: application/json"


def test_a_foreign_host_is_misdirected(guarded):
    proxy, backend = guarded
    for host, method, target in itertools.product(HOSTS, METHODS, TARGETS):
        host = host.format(port=proxy.port)
        body = None if method == "GET" else BODY
        raw = request(proxy.port, method, target, host, [JSON], body)
        assert send(proxy.port, raw) == 421, (host, method, target)
    untouched(proxy, backend)


def test_another_origin_is_forbidden(guarded):
    proxy, backend = guarded
    for origin, method, target in itertools.product(ORIGINS, METHODS, TARGETS):
        body = None if method == "GET" else BODY
        raw = request(proxy.port, method, target, None, [f"Origin: {origin}", JSON], body)
        if method == "GET" and target.startswith("/-/"):
            continue  # a route without GET; the next test covers the dashboard's reads
        assert send(proxy.port, raw) == 403, (origin, method, target)
    untouched(proxy, backend)


def test_another_site_is_forbidden_with_and_without_an_origin(guarded):
    proxy, backend = guarded
    for site, method, target, origin in itertools.product(
        SITES, METHODS, TARGETS, [None, "https://evil.example"]
    ):
        fields = [f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: cors", JSON]
        if origin:
            fields.append(f"Origin: {origin}")
        body = None if method == "GET" else BODY
        raw = request(proxy.port, method, target, None, fields, body)
        assert send(proxy.port, raw) == 403, (site, method, target, origin)
    untouched(proxy, backend)


@pytest.mark.parametrize(
    "type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_form_is_no_json(guarded, type):
    proxy, backend = guarded
    for method, target in [("POST", "/tables/todoitem"), ("PATCH", "/tables/todoitem/a")]:
        raw = request(proxy.port, method, target, None, [f"Content-Type: {type}"])
        assert send(proxy.port, raw) == 415, (type, method)
    untouched(proxy, backend)


def test_the_operator_api_wants_its_token(guarded):
    proxy, backend = guarded
    for fields in (
        [],
        ["Authorization: Bearer wrong"],
        ["Authorization: Bearer "],
        [f"Cookie: understudy_{proxy.port}=guess"],
        ["Understudy-Session: guess"],
    ):
        for method, target in [("GET", "/-/api/v1/status"), ("POST", "/-/api/v1/sync")]:
            raw = request(proxy.port, method, target, None, [*fields, JSON], b"{}")
            assert send(proxy.port, raw) == 401, (fields, method)
    untouched(proxy, backend)


# Requests that two readers could take for different things, or that no reader should take. Each is
# followed on the same connection by a request that is in order: a server that lost count of the
# bytes, or went on after its refusal, would insert a row.
FIELDS = {
    "two lengths": "Content-Length: 18\r\nContent-Length: 2",
    "two equal lengths": "Content-Length: 18\r\nContent-Length: 18",
    "a length twice in one": "Content-Length: 18, 18",
    "a signed length": "Content-Length: +18",
    "a negative length": "Content-Length: -1",
    "a hexadecimal length": "Content-Length: 0x12",
    "a length with a blank": "Content-Length: 1 8",
    "an empty length": "Content-Length:",
    "a length beyond counting": "Content-Length: 99999999999999999999",
    "a huge length": "Content-Length: 99999999",
    "length and chunks": "Content-Length: 18\r\nTransfer-Encoding: chunked",
    "chunks and length": "Transfer-Encoding: chunked\r\nContent-Length: 18",
    "no length and chunks": "Content-Length: 0\r\nTransfer-Encoding: chunked",
    "another encoding": "Transfer-Encoding: xchunked",
    "two encodings": "Transfer-Encoding: gzip, chunked",
    "chunks last but one": "Transfer-Encoding: chunked, identity",
    "no encoding": "Transfer-Encoding: identity",
    "chunks twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "a blank before the colon": "Content-Length : 18",
    "a blank in a name": "X Y: 1\r\nContent-Length: 18",
    "no colon": "nothing\r\nContent-Length: 18",
    "a NUL in a name": "X\0Y: 1\r\nContent-Length: 18",
    "a bare CR in a value": "X: a\rContent-Length: 2\r\nContent-Length: 18",
    "a bell in a value": "X: a\x07b\r\nContent-Length: 18",
    "another Host": "Host: evil.example\r\nContent-Length: 18",
    "the same Host again": "Host: {host}\r\nContent-Length: 18",
    "two origins": "Origin: http://{host}\r\nOrigin: null\r\nContent-Length: 18",
    "two types": "Content-Type: text/plain\r\nContent-Length: 18",
    "method override": "X-HTTP-Method-Override: DELETE\r\nContent-Length: 18",
    "a huge field": "X: " + "x" * 40_000 + "\r\nContent-Length: 18",
    "a field beyond bearing": "X: " + "x" * 100_000 + "\r\nContent-Length: 18",
    "many fields": "\r\n".join(["X: 1"] * 80) + "\r\nContent-Length: 18",
}
LINES = {
    "an unknown method": "BREW {target} HTTP/1.1",
    "a method in small letters": "post {target} HTTP/1.1",
    "a method with a bracket": "PO(ST {target} HTTP/1.1",
    "a tunnel": "CONNECT {host} HTTP/1.1",
    "a trace": "TRACE {target} HTTP/1.1",
    "no version": "POST {target}",
    "another version": "POST {target} HTTP/9.9",
    "the next protocol": "PRI * HTTP/2.0",
    "a NUL in the target": "POST {target}%00 HTTP/1.1",
    "a raw NUL in the target": "POST {target}\0x HTTP/1.1",
    "a tab in the target": "POST {target}\tx HTTP/1.1",
    "a bad encoding": "POST {target}%zz HTTP/1.1",
    "half an encoding": "POST {target}%4 HTTP/1.1",
    "bytes that are no text": "POST {target}%FF%FE HTTP/1.1",
    "a way up": "POST /tables/../-/api/v1/sync HTTP/1.1",
    "an encoded way up": "POST /tables/%2e%2e/-/api/v1/sync HTTP/1.1",
    "a backslash": "POST /tables\\todoitem HTTP/1.1",
    "an encoded backslash": "POST /tables/%5Ctodoitem HTTP/1.1",
    "an encoded line end": "POST {target}%0d%0aX:%20y HTTP/1.1",
    "an absolute target": "POST http://{host}{target} HTTP/1.1",
    "another absolute target": "POST http://evil.example{target} HTTP/1.1",
    "a target without a slash": "POST tables/todoitem HTTP/1.1",
    "a star": "POST * HTTP/1.1",
    "a long target": "POST {target}?x=" + "x" * 20_000 + " HTTP/1.1",
    "a target beyond bearing": "POST {target}?x=" + "x" * 100_000 + " HTTP/1.1",
}
CHUNKS = {
    "no number": b"zz\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a negative number": b"-12\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a prefixed number": b"0x12\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a number beyond counting": b"FFFFFFFFFFFFFFFFF\r\n" + BODY + b"\r\n0\r\n\r\n",
    "too short a number": b"2\r\n" + BODY + b"\r\n0\r\n\r\n",
    "no line end": b"12\r\n" + BODY + b"0\r\n\r\n",
}
CROOKED_TARGETS = ["/tables/todoitem", "/tables/todoitem/a", "/-/api/v1/sync", "/%74ables/todoitem"]


def crooked(port):
    """Every crooked request with its name, each followed by one that is in order."""
    host = f"127.0.0.1:{port}"
    smuggled = request(port, fields=[JSON])

    def whole(line, fields, body):
        head = f"{line}\r\nHost: {host}\r\n{JSON}\r\n{fields}\r\n\r\n"
        return head.encode("latin-1") + body + smuggled

    for target in CROOKED_TARGETS:
        line = f"POST {target} HTTP/1.1"
        for name, fields in FIELDS.items():
            chunked = "chunked" in fields and "Content-Length: 18" not in fields
            body = b"0\r\n\r\n" if chunked else BODY
            yield f"{name}, {target}", whole(line, fields.replace("{host}", host), body)
        for name, line in LINES.items():
            line = line.replace("{target}", target).replace("{host}", host)
            yield f"{name}, {target}", whole(line, "Content-Length: 18", BODY)
        for name, body in CHUNKS.items():
            line = f"POST {target} HTTP/1.1"
            yield f"{name}, {target}", whole(line, "Transfer-Encoding: chunked", body)
        line = f"POST {target} HTTP/1.0"
        yield f"old chunks, {target}", whole(line, "Transfer-Encoding: chunked", BODY)
        yield f"no host, {target}", b"POST %s HTTP/1.1\r\n\r\n" % target.encode() + smuggled


def test_a_crooked_request_is_refused_and_nothing_behind_it_is_read(guarded):
    proxy, backend = guarded
    count = 0
    for name, raw in crooked(proxy.port):
        status = send(proxy.port, raw)
        assert status is None or 400 <= status < 500 or status == 505, (name, status)
        count += 1
    assert count >= 250
    untouched(proxy, backend)


def test_the_matrix_has_at_least_five_hundred_requests(guarded):
    proxy, _ = guarded
    hosts = len(HOSTS) * len(METHODS) * len(TARGETS)
    origins = len(ORIGINS) * len(METHODS) * len(TARGETS)
    sites = 2 * len(SITES) * len(METHODS) * len(TARGETS)
    assert hosts + origins + sites + len(list(crooked(proxy.port))) >= 700


def test_every_refusal_is_counted_in_metrics_and_shown_in_words(guarded):
    proxy, _ = guarded

    def entries():
        return {one["reason"]: one for one in proxy.operator("GET", "/rejections")["items"]}

    before = entries()
    refused = [
        request(proxy.port, host="evil.example"),
        request(proxy.port, fields=["Origin: https://evil.example", JSON]),
        request(proxy.port, fields=["Content-Type: text/plain"]),
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 40_000 + b"\r\n\r\n",
    ]
    for raw in refused:
        send(proxy.port, raw)

    def grown(reason):
        return entries().get(reason, {"count": 0})["count"] > before.get(reason, {"count": 0})["count"]

    for reason in ("host", "cross-origin", "content-type", "repeated-field", "unreadable", "head-length"):
        wait_until(lambda: grown(reason), 5, reason)
        assert entries()[reason]["sentence"].endswith(".")
    found = entries()
    assert found["cross-origin"]["lastDetail"] == "https://evil.example"
    metrics = requests.get(proxy.url + "/-/metrics", timeout=10).text
    for reason, one in found.items():
        assert f'understudy_rejected_requests_total{{reason="{reason}"}} {one["count"]}' in metrics
    assert proxy.status()["rejectedRequests"] == sum(one["count"] for one in found.values())


def test_refusals_are_counted_by_reason(guarded):
    proxy, _ = guarded
    send(proxy.port, request(proxy.port, host="evil.example"))
    reasons = {one["reason"]: one for one in proxy.operator("GET", "/rejections")["items"]}
    assert reasons["host"]["count"] >= 1
    assert "evil.example" in json.dumps(reasons["host"])


def test_after_all_that_an_honest_client_is_served(guarded):
    proxy, _ = guarded
    item = proxy.insert({"text": "honest"})
    assert proxy.get(item["id"]).status_code == 200
