"""Bytes on a socket, and what a server makes of them."""

import socket
import time

BODY = b'{"text":"planted"}'
JSON = "Content-Type: application/json"


def send(port, raw):
    """Sends bytes unchanged; returns the status of the first answer, or None if the connection was closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        answer = b""
        try:
            wire.sendall(raw)
            while b"\r\n" not in answer:
                chunk = wire.recv(65536)
                if not chunk:
                    return None
                answer += chunk
        except (ConnectionResetError, BrokenPipeError):
            return None
    return int(answer.split(b" ", 2)[1])


def answers(port, raw):
    """Sends bytes unchanged; returns the statuses of all answers until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall(raw)
        answer = b""
        while chunk := wire.recv(65536):
            answer += chunk
    return [int(one[:3]) for one in answer.split(b"HTTP/1.1 ")[1:]]


def request(port, method="POST", target="/tables/todoitem", host=None, fields=(), body=BODY, version="1.1"):
    lines = [f"{method} {target} HTTP/{version}".encode("latin-1")]
    if host is not False:
        lines.append(f"Host: {host or f'127.0.0.1:{port}'}".encode())
    lines += [field.encode("latin-1") if isinstance(field, str) else field for field in fields]
    if body:
        lines += [b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body or b""])


def untouched(proxy, backend):
    """No row, no operation, no table, and nothing but reads has reached the backend."""
    status = proxy.status()
    assert status["ledger"]["accepted"] == 0
    assert status["tables"] == []
    effects = backend.request("GET", "/-/effects").json()
    assert effects["effects"] == []
    writes = {k: v for k, v in effects["requests"].items() if k not in ("GET", "PUT")}
    assert writes == {}


def served_within(proxy, seconds, tries=5):
    """The best time of a few in which another client, on a connection of its own, has its answer: on a busy
    machine a single one says little."""
    best = None
    for _ in range(tries):
        began = time.monotonic()
        raw = f"GET /-/livez HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n\r\n".encode()
        assert send(proxy.port, raw) == 200
        took = time.monotonic() - began
        best = min(best or took, took)
        if best <= seconds:
            break
    return best
