"""Requests outside of /tables and /-/ reach the backend, and answers come back byte for byte."""

import gzip
import json
import socket
import threading

import pytest
import requests
from hostile import HTTPBackend, honest, with_custom_apis
from programs import ZUMO, free_port

MIB = 1 << 20


@pytest.fixture(scope="module")
def proxy(start_shared):
    return start_shared.proxy(HTTPBackend(with_custom_apis).url)


@pytest.fixture
def own_proxy(start):
    return start.proxy(HTTPBackend(with_custom_apis).url)


def echoed(answer):
    return json.loads(answer.headers["X-Echo"])


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "body, kind",
    [
        (b"", None),
        (bytes(range(256)) * 9, "application/octet-stream"),
        ("\u00fc\U0001f40c \r\n".encode(), "text/plain; charset=utf-8"),
        (b'{"a" : 1.10, "a":2, "b":1e400}', "application/json"),
        (b"a=1&b=%2F", "application/x-www-form-urlencoded"),
    ],
    ids=["none", "bytes", "text", "json", "form"],
)
def test_any_body_with_any_method(proxy, method, body, kind):
    headers = {"Content-Type": kind} if kind else {}
    answer = requests.request(
        method, proxy.url + "/api/echo?x=a%2Fb&y=+%20&x=2?z", data=body, headers=headers, timeout=10
    )
    assert answer.status_code == 200
    assert answer.content == body
    seen = echoed(answer)
    assert (seen["method"], seen["target"]) == (method, "/api/echo?x=a%2Fb&y=+%20&x=2?z")
    if kind:
        assert answer.headers["Content-Type"] == kind


def test_any_number_of_query_pairs(proxy):
    target = "/api/echo?" + "a&" * 5_000
    assert echoed(requests.get(proxy.url + target, timeout=30))["target"] == target


def test_fields_are_passed_through_except_those_of_the_connection(proxy):
    headers = {
        "X-Own": "kept", "X-Hop": "gone", "Connection": "X-Hop", "TE": "trailers",
        "Keep-Alive": "timeout=5", "Cookie": f"mine=1; understudy_{proxy.port}=secret; other=2",
        "Authorization": "Basic abc", "X-ZUMO-AUTH": "some.token.here", "Accept-Encoding": "br;q=0.1",
        "Understudy-Session": "secret", "User-Agent": "a client",
    }
    seen = echoed(requests.get(proxy.url + "/api/echo", headers=headers, timeout=10))
    fields = {name.lower(): value for name, value in seen["fields"]}
    for gone in ("x-hop", "te", "keep-alive", "understudy-session"):
        assert gone not in fields, seen
    # test_secrets.py shows which cookies are sent: those that the backend has set.
    assert "cookie" not in fields
    for name in ("X-Own", "Authorization", "X-ZUMO-AUTH", "Accept-Encoding", "User-Agent"):
        assert fields[name.lower()] == headers[name]


def test_the_operators_token_is_never_passed_on(proxy):
    headers = {"Authorization": f"Bearer {proxy.token}", "ZUMO-API-VERSION": "3.0.0"}
    answer = requests.get(proxy.url + "/api/echo", headers=headers, timeout=10)
    assert proxy.token not in answer.headers["X-Echo"]


class ExactBackend:
    """A small backend. It answers with exact bytes, with each of `answers` once."""

    def __init__(self, server):
        self.url = f"http://127.0.0.1:{server.getsockname()[1]}"
        self.answers, self.seen = [], []
        threading.Thread(target=self.serve, args=(server,), daemon=True).start()

    def serve(self, server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                data = b""
                while b"\r\n\r\n" not in data:
                    data += connection.recv(65536)
                self.seen.append(data)
                if b"/tables/" in data.split(b"\r\n")[0]:
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                else:
                    connection.sendall(self.answers.pop(0))


@pytest.fixture(scope="module")
def exact_backend():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield ExactBackend(server)


@pytest.fixture(scope="module")
def before_exact_backend(start_shared, exact_backend):
    return start_shared.proxy(exact_backend.url, "--sync", "manual", folder="exact")


@pytest.fixture(scope="module")
def below_a_path(start_shared, exact_backend):
    return start_shared.proxy(exact_backend.url + "/pre", "--sync", "manual", folder="below")


@pytest.fixture
def raw(before_exact_backend, exact_backend):
    """A proxy in front of the backend, the backend's answers, and the requests that the backend gets in the test."""
    assert exact_backend.answers == []
    exact_backend.seen.clear()
    yield before_exact_backend, exact_backend.answers, exact_backend.seen
    exact_backend.answers.clear()


def test_an_encoded_body_stays_encoded(raw):
    proxy, answers, _ = raw
    packed = gzip.compress(b"hello " * 100)
    answers.append(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n"
        b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n"
        + f"Content-Length: {len(packed)}\r\n\r\n".encode() + packed
    )
    answer = requests.get(proxy.url + "/api/x", stream=True, timeout=10)
    assert answer.raw.read(decode_content=False) == packed
    assert answer.headers["Content-Length"] == str(len(packed))
    assert answer.headers["Content-Encoding"] == "gzip"
    assert [v for k, v in answer.raw.headers.items() if k.lower() == "set-cookie"] == ["a=1", "b=2"]
    assert "X-Hop" not in answer.headers


def test_a_head_answer_has_the_backends_length(raw):
    proxy, answers, _ = raw
    answers.append(b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nConnection: close\r\n\r\n")
    answer = requests.head(proxy.url + "/api/x", timeout=10)
    assert (answer.status_code, answer.headers["Content-Length"]) == (200, "12345")


@pytest.mark.parametrize("status", [204, 304, 302, 404, 418, 500])
def test_any_status(raw, status):
    proxy, answers, _ = raw
    body = b"" if status in (204, 304) else b"words"
    length = b"" if status in (204, 304) else b"Content-Length: 5\r\n"
    answers.append(f"HTTP/1.1 {status} X\r\n".encode() + length + b"Connection: close\r\n\r\n" + body)
    answer = requests.get(proxy.url + "/api/x", timeout=10, allow_redirects=False)
    assert (answer.status_code, answer.content) == (status, body)


def test_an_incomplete_body_is_incomplete_for_the_client(raw):
    proxy, answers, _ = raw
    answers.append(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf")
    with pytest.raises(requests.exceptions.RequestException):
        requests.get(proxy.url + "/api/x", timeout=10).content


def test_a_chunked_answer_without_a_length(raw):
    proxy, answers, _ = raw
    answers.append(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
    )
    assert requests.get(proxy.url + "/api/x", timeout=10).content == b"abcdefg"


def test_a_chunked_answer_with_a_length_has_the_length_of_its_chunks(raw):
    proxy, answers, _ = raw
    answers.append(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        b"8\r\n{\"a\": 1}\r\n0\r\n\r\n"
    )
    answer = requests.get(proxy.url + "/api/x", timeout=10)
    assert (answer.content, answer.headers.get("Content-Length")) == (b'{"a": 1}', None)


def test_a_length_that_no_body_has_is_left_out_of_a_head_answer(raw):
    proxy, answers, _ = raw
    answers.append(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\nConnection: close\r\n\r\n")
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as wire:
        wire.sendall(f"HEAD /api/x HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while chunk := wire.recv(65536):
            answer += chunk
    head, rest = answer.split(b"\r\n\r\n", 1)
    assert (head.split(b" ")[1], rest) == (b"200", b"")


def asked(seen, path):
    """How often a path was asked of the backend."""
    return len([data for data in seen if data.split(b" ")[1] == path])


@pytest.mark.parametrize("method, status", [("GET", 503), ("POST", 502), ("DELETE", 502)])
@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"SSH-2.0-x\r\n\r\n"],
    ids=["nothing", "half a head", "a head alone", "no HTTP"],
)
def test_only_what_was_not_done_may_be_sent_again(raw, method, status, answer):
    """503 with `Retry-After` says that nothing was done, so a client sends the request again."""
    proxy, answers, seen = raw
    answers.append(answer)
    reply = requests.request(method, proxy.url + "/api/pay", timeout=20)
    assert (reply.status_code, "Retry-After" in reply.headers) == (status, status == 503)
    assert ("Look whether it was done" in reply.text) == (status == 502)
    assert asked(seen, b"/api/pay") == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_head_that_is_too_long_for_an_answer_is_said_so(raw, method):
    """The head of an answer and that of its request share the memory of a connection."""
    proxy, answers, _ = raw
    line = "X-{}: " + "a" * 1000 + "\r\n"
    for lines, status in ((20, 200), (30, 502)):
        fields = "".join(line.format(number) for number in range(lines))
        answers.append(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\nConnection: close\r\n\r\nok".encode())
        answer = requests.request(
            method, proxy.url + "/api/x?" + "b" * 15_000, timeout=20,
            headers={f"X-Own-{number}": "c" * 1000 for number in range(28)})
        assert (answer.status_code, "Retry-After" in answer.headers) == (status, False)
        assert answer.text == "ok" or "larger than allowed" in answer.text


@pytest.mark.parametrize("method, status", [
    ("GET", 301), ("HEAD", 302), ("GET", 303), ("GET", 307), ("POST", 307), ("PUT", 308),
])
def test_a_backend_that_wants_https_is_said_so_instead_of_a_loop(raw, method, status):
    proxy, answers, _ = raw
    secure = proxy.backend_url.replace("http://", "https://")
    answers.append(
        f"HTTP/1.1 {status} Moved\r\nLocation: {secure}/api/x?a=1\r\n".encode()
        + b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    answer = requests.request(method, proxy.url + "/api/x?a=1", timeout=10, allow_redirects=False)
    assert (answer.status_code, answer.headers.get("Location")) == (502, None)
    assert method == "HEAD" or f"--backend {secure}" in answer.text.replace("\\/", "/")


@pytest.mark.parametrize("method, status", [
    ("PUT", 201), ("POST", 201), ("PATCH", 200), ("POST", 302), ("POST", 303), ("GET", 200),
])
def test_a_write_that_was_done_keeps_its_answer_with_an_https_location(raw, method, status):
    """A backend behind a front end that ends TLS makes its own addresses with https."""
    proxy, answers, _ = raw
    secure = proxy.backend_url.replace("http://", "https://")
    answers.append(
        f"HTTP/1.1 {status} X\r\nLocation: {secure}/api/x\r\n".encode()
        + b"Content-Length: 4\r\nConnection: close\r\n\r\ndone"
    )
    answer = requests.request(method, proxy.url + "/api/x", timeout=10, allow_redirects=False)
    assert (answer.status_code, answer.text, answer.headers["Location"]) == (status, "done", proxy.url + "/api/x")


@pytest.mark.parametrize("location, own", [
    ("/pre/x?a=1", "/x?a=1"),
    ("/pre", "/"),
    ("/pre//x/y", "PROXY//x/y"),
    ("/pre/\\x/y", "PROXY/\\x/y"),
    ("/previous/x", "/previous/x"),
    ("//BACKEND/pre/x", "PROXY/x"),
    ("http://BACKEND/pre/x", "PROXY/x"),
    ("http://BACKEND/pre", "PROXY/"),
    ("http://BACKEND/pre?a=1", "PROXY/?a=1"),
    ("http://BACKEND/x", "http://BACKEND/x"),
    ("http://other.invalid/pre/x", "http://other.invalid/pre/x"),
])
def test_a_location_below_the_path_of_the_backend_is_one_of_the_proxy(raw, below_a_path, location, own):
    _, answers, _ = raw
    proxy = below_a_path
    backend = proxy.backend_url.removeprefix("http://").removesuffix("/pre")
    answers.append(
        f"HTTP/1.1 302 Found\r\nLocation: {location.replace('BACKEND', backend)}\r\n".encode()
        + b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    answer = requests.get(proxy.url + "/api/x", timeout=10, allow_redirects=False)
    assert answer.headers["Location"] == own.replace("BACKEND", backend).replace("PROXY", proxy.url)


def test_a_redirect_of_the_backend_to_itself_is_rewritten_to_the_proxy(raw):
    proxy, answers, _ = raw
    answers.append(
        f"HTTP/1.1 302 Found\r\nLocation: {proxy.backend_url}/next?a=1\r\n".encode()
        + b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    answer = requests.get(proxy.url + "/api/x", timeout=10, allow_redirects=False)
    assert answer.headers["Location"] == proxy.url + "/next?a=1"


@pytest.fixture(scope="module")
def without_backend(start_shared):
    return start_shared.proxy(f"http://127.0.0.1:{free_port()}", folder="without-backend")


@pytest.mark.parametrize(
    "headers, member",
    [({}, "error"), (ZUMO, "error"), ({"ZUMO-API-VERSION": "3.0.0"}, None)],
    ids=["unmarked", "second", "third"],
)
def test_offline_503_with_retry_after_in_the_clients_form(without_backend, headers, member):
    proxy = without_backend
    for path in ("/api/x", "/.auth/me", "/push/installations/1", "/login/facebook"):
        answer = requests.get(proxy.url + path, headers=headers, timeout=10)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        if member:
            assert answer.json()[member]


def test_in_offline_mode_nothing_is_sent_to_the_backend(own_proxy):
    proxy = own_proxy
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    assert requests.get(proxy.url + "/api/echo", timeout=10).status_code == 503
    proxy.operator("POST", "/mode", json={"mode": "online"})
    assert requests.get(proxy.url + "/api/echo", timeout=10).status_code == 200


def resident(program):
    """The peak memory of a process, in MiB."""
    with open(f"/proc/{program.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


# More than one mebibyte of bytes that count up from 0 to 250 and again.
COUNTED = bytes(range(251)) * 4200


def count_up(handler, _):
    """Answers a hundred mebibytes, as fast as they are taken."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(100 * MIB))
    handler.end_headers()
    for start in range(0, 100 * MIB, len(COUNTED)):
        handler.wfile.write(COUNTED[: 100 * MIB - start])


def test_a_download_of_a_hundred_mebibytes_takes_bounded_memory(start):
    backend = HTTPBackend(lambda handler, body: (count_up if handler.path == "/api/bytes" else honest)(handler, body))
    proxy = start.proxy(backend.url, "--sync", "manual")
    before = resident(proxy.program)
    total = 0
    with requests.get(proxy.url + "/api/bytes", stream=True, timeout=60) as answer:
        assert answer.headers["Content-Length"] == str(100 * MIB)
        for piece in answer.iter_content(MIB):
            assert piece == COUNTED[total % 251:][: len(piece)], f"the bytes from {total} on"
            total += len(piece)
    backend.shutdown()
    assert total == 100 * MIB
    grown = resident(proxy.program) - before
    print(f"peak memory grew by {grown:.0f} MiB")
    assert grown < 30


def test_an_upload_of_a_hundred_mebibytes_arrives(own_proxy):
    proxy = own_proxy
    before = resident(proxy.program)
    body = bytes(range(250)) * (100 * MIB // 250)
    answer = requests.post(proxy.url + "/api/size", data=body, timeout=60)
    assert answer.json() == {"bytes": len(body)}
    grown = resident(proxy.program) - before
    print(f"peak memory grew by {grown:.0f} MiB")
    assert grown < 30


def test_a_chunked_body_arrives_and_one_over_the_limit_is_refused(proxy):
    piece = bytes(1 << 16)
    answer = requests.post(proxy.url + "/api/size", data=(piece for _ in range(160)), timeout=20)
    assert answer.json() == {"bytes": 10 * MIB}
    with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
        connection.sendall(
            b"POST /api/size HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n"
            b"Expect: 100-continue\r\n\r\n" % (proxy.port, 100 * MIB + 1)
        )
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_slow_backend_slows_the_client_and_memory_stays_bounded(start):
    """The backend reads nothing for some time: the client cannot send on, and the proxy stays small."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        proxy = start.proxy(f"http://127.0.0.1:{server.getsockname()[1]}", "--sync", "manual")
        before = resident(proxy.program)
        sent = 0
        with socket.create_connection(("127.0.0.1", proxy.port)) as client:
            client.sendall(
                b"POST /api/x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"
                % (proxy.port, 64 * MIB)
            )
            client.settimeout(2)
            with pytest.raises(TimeoutError):
                while sent < 64 * MIB:
                    sent += client.send(bytes(1 << 16))
            assert sent < 32 * MIB
            # Other clients are served meanwhile.
            assert requests.get(proxy.url + "/-/livez", timeout=5).status_code == 200
            backend, _ = server.accept()
            with backend:
                client.settimeout(30)
                reader = threading.Thread(target=swallow, args=(backend,), daemon=True)
                reader.start()
                while sent < 64 * MIB:
                    sent += client.send(bytes(min(1 << 16, 64 * MIB - sent)))
                assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert resident(proxy.program) - before < 30


def swallow(connection):
    data = connection.recv(1 << 16)
    left = 64 * MIB - len(data.split(b"\r\n\r\n", 1)[1])
    while left > 0:
        left -= len(connection.recv(1 << 20))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def test_offline_a_long_body_is_refused_without_waiting_for_the_backend(without_backend):
    answer = requests.post(without_backend.url + "/api/x", data=bytes(20 * MIB), timeout=20)
    assert answer.status_code == 503


def test_a_stop_during_an_upload_ends_in_time(start):
    with socket.create_server(("127.0.0.1", 0)) as server:
        proxy = start.proxy(f"http://127.0.0.1:{server.getsockname()[1]}", "--sync", "manual")
        with socket.create_connection(("127.0.0.1", proxy.port)) as client:
            client.sendall(
                b"POST /api/x HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"
                % (proxy.port, 64 * MIB)
            )
            client.settimeout(1)
            with pytest.raises(TimeoutError):
                while True:
                    client.send(bytes(1 << 16))
            assert proxy.stop() < 4
        assert proxy.program.process.returncode == 0, proxy.program.output


@pytest.mark.parametrize(
    "headers, first", [(ZUMO, False), ({"X-ZUMO-APPLICATION": "key"}, True)], ids=["second", "first"]
)
def test_a_chunked_tables_body_over_the_limit_is_refused_in_the_clients_form(proxy, headers, first):
    pieces = (b'{"text":"' + bytes(70_000).replace(b"\0", b"x") for _ in range(16))
    answer = requests.post(proxy.url + "/tables/todoitem", data=pieces, headers=headers, timeout=20)
    assert answer.status_code == 413
    assert answer.json()["error"] and ("code" in answer.json()) == first
    assert proxy.status()["ledger"]["accepted"] == 0


def test_the_link_of_a_list_that_is_passed_through_names_the_proxy(start):
    """A token that the backend accepts but does not need proves no identity: the backend itself answers."""
    backend = start.backend("--generation", "2-node", "--page-rows", "2")
    for id in "abc":
        backend.insert({"id": id, "text": id})
    proxy = start.proxy(backend.url)
    headers = {**ZUMO, "X-ZUMO-AUTH": "of.some.body"}
    answer = requests.get(
        proxy.url + "/tables/todoitem?$orderby=id&$top=3", headers=headers, timeout=10)
    assert [row["id"] for row in answer.json()] == ["a", "b"]
    link, rel = answer.headers["Link"].split("; ")
    assert rel == "rel=next" and link.startswith(proxy.url + "/tables/todoitem?")
    following = requests.get(link, headers=headers, timeout=10)
    assert [row["id"] for row in following.json()] == ["c"]


@pytest.mark.parametrize("generation, path, done", [
    ("1", "/.auth/login/facebook?session_mode=token", "/login/done"),
    ("2", "/login/facebook", "/.auth/login/done"),
])
def test_a_browsers_login_ends_at_the_address_of_its_generation(raw, start, generation, path, done):
    shared, answers, seen = raw
    proxy = start.proxy(shared.backend_url, "--sync", "manual", "--backend-generation", generation)
    answers.append(
        f"HTTP/1.1 302 Found\r\nLocation: {proxy.backend_url}{done}#token=%7B%7D\r\n".encode()
        + b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    answer = requests.get(proxy.url + path, timeout=10, allow_redirects=False)
    waited = "/.auth/login/done" if generation == "1" else "/login/done"
    assert answer.headers["Location"] == f"{proxy.url}{waited}#token=%7B%7D"
    asked = [data.split(b" ")[1] for data in seen if b"login" in data.split(b"\r\n")[0]]
    assert asked == [
        b"/login/facebook" if generation == "1" else b"/.auth/login/facebook?session_mode=token"]
