"""The header fields of every answer under /-/, and what health and metrics show without a sign-in."""

import re
import sqlite3

import pytest
import requests
from by_hand import raw
from programs import ZUMO, sign_in

CLOSED = "default-src 'none'"


@pytest.fixture(scope="module")
def world(start_shared):
    backend = start_shared.backend()
    return backend, start_shared.proxy(backend.url)


@pytest.mark.parametrize("method, target, fields, status", [
    ("GET", "/-/", [], 200), ("GET", "/-/app.js", [], 200), ("GET", "/-/shared/style.css", [], 200),
    ("GET", "/-", [], 302), ("GET", "/-/none.js", [], 404), ("GET", "/-/livez", [], 200),
    ("HEAD", "/-/livez", [], 200), ("GET", "/-/readyz", [], 200), ("GET", "/-/metrics", [], 200),
    ("GET", "/-/openapi.json", [], 200), ("GET", "/-/api/v1/status", [], 401),
    ("GET", "/-/api/v1/status", ["TOKEN"], 200), ("GET", "/-/api/v1/none", ["TOKEN"], 404),
    ("DELETE", "/-/api/v1/session", ["TOKEN"], 204), ("PUT", "/-/api/v1/status", ["TOKEN"], 405),
    ("POST", "/-/api/v1/sync", ["TOKEN", "Content-Type: text/plain"], 415),
    ("POST", "/-/api/v1/sync", ["TOKEN", "Content-Length: 5"], 400),
    ("GET", "/-/livez", ["Origin: https://evil.example"], 403),
    ("GET", "/-/sw.js", ["Service-Worker: script"], 403),
    ("GET", "/-//livez", [], 400), ("GET", "//-/livez", [], 400), ("TRACE", "/-/livez", [], 405),
])
def test_every_answer_has_the_security_fields(world, method, target, fields, status):
    _, proxy = world
    fields = [f"Authorization: Bearer {proxy.token}" if one == "TOKEN" else one for one in fields]
    got, answer = raw(proxy.port, target, method, fields)
    assert got == status, answer
    head = answer.split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    said = {name.lower(): value for name, value in (line.split(": ", 1) for line in head)}
    assert said["x-content-type-options"] == "nosniff"
    assert said["cross-origin-resource-policy"] == "same-origin"
    assert said["content-security-policy"].startswith(CLOSED)
    assert "frame-ancestors 'none'" in said["content-security-policy"]


def test_the_dashboard_runs_only_its_own_scripts(world):
    _, proxy = world
    for host in ("127.0.0.1", "localhost"):
        answer = requests.get(f"http://{host}:{proxy.port}/-/", timeout=10)
        rules = dict(rule.split(" ", 1) for rule in answer.headers["Content-Security-Policy"].split("; "))
        assert rules["script-src"] == f"{host}:{proxy.port}/-/"
        assert rules["worker-src"] == "'none'"
    # A content policy cannot name an IPv6 address.
    fields = [f"Host: [::1]:{proxy.port}"]
    status, answer = raw_at("[::1]", proxy, "/-/")
    assert status == 302 and f"Location: http://localhost:{proxy.port}/-/\r\n".encode() in answer, fields


def raw_at(host, proxy, target):
    import socket
    with socket.create_connection(("::1", proxy.port), timeout=10) as wire:
        wire.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}:{proxy.port}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := wire.recv(65536):
            answer += piece
    return int(answer.split(b" ")[1]), answer


def test_health_and_metrics_name_no_user(world):
    _, proxy = world
    for name in ("ana", "ben"):
        sign_in(proxy, name).insert({"text": name})
    key = [one for one in proxy.status()["identities"] if one != "anonymous"][0]
    for path in ("/-/readyz", "/-/readyz?verbose", "/-/metrics"):
        text = requests.get(proxy.url + path, timeout=10).text
        assert "ana" not in text.replace("anonymous", "") and "facebook" not in text and key not in text, text
    said = requests.get(proxy.url + "/-/metrics", timeout=10).text
    assert set(re.findall(r'identity="([^"]*)"', said)) == {"anonymous", "users"}
    accepted = re.search(r'understudy_operations_accepted_total\{identity="users"\} (\d+)', said)
    assert accepted and int(accepted[1]) == 2
    full = requests.get(proxy.url + "/-/readyz?verbose", timeout=10).json()
    assert full["status"] == "ok"
    assert [one["name"] for one in full["checks"]] == ["stores", "backend", "sync"]
    assert full["checks"][2]["detail"] == "3 of 3 go round"


def test_readiness_writes_at_most_once_a_second(start):
    proxy = start.proxy(start.backend().url, "--sync", "manual")
    file = proxy.folder / "stores/anonymous/store.sqlite"

    def changes():
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
            return store.execute("PRAGMA data_version").fetchone()[0]

    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as store:
        version = lambda: store.execute("PRAGMA data_version").fetchone()[0]
        seen = {version()}
        import time
        began = time.monotonic()
        for _ in range(300):
            assert requests.get(proxy.url + "/-/readyz", timeout=10).status_code == 200
            seen.add(version())
        took = time.monotonic() - began
    assert len(seen) <= took + 3, (len(seen), took)


def test_a_null_origin_gives_a_warning_at_the_start(start):
    proxy = start.proxy(start.backend().url, "--allow-origin", "null")
    assert "--allow-origin null lets every page" in proxy.program.output
    assert any("--allow-origin null" in warning for warning in proxy.status()["warnings"])


def test_the_faults_of_a_backend_are_set_only_at_its_own_host(start):
    backend = start.backend("--faults")
    ask = lambda host: requests.get(
        backend.url + "/-/effects", headers={"Host": host, **ZUMO}, timeout=10).status_code
    assert ask(f"127.0.0.1:{backend.port}") == 200
    assert ask(f"localhost:{backend.port}") == 200
    for host in ("evil.example", f"evil.example:{backend.port}", "127.0.0.1", "127.0.0.1:1"):
        assert ask(host) == 421, host
        answer = requests.put(backend.url + "/-/faults", headers={"Host": host}, json={"down": True}, timeout=10)
        assert answer.status_code == 421
    assert requests.get(backend.url + "/-/faults", timeout=10).json() == requests.get(
        backend.url + "/-/faults", timeout=10).json()
