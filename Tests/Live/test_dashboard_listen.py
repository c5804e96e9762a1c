"""--dashboard-listen: the dashboard has a port, and so an origin, of its own."""

import json
import os
import signal
import socket
import subprocess

import pytest
import requests
from by_hand import raw
from hostile import HTTPBackend
from programs import BINARY, ZUMO, free_port, wait_until


@pytest.fixture
def backend():
    backend = HTTPBackend(lambda handler, _: handler.answer(200, b"[]", {"Content-Type": "text/html"}))
    yield backend
    backend.shutdown()


@pytest.fixture
def world(start, backend):
    port = free_port()
    return backend, start.proxy(backend.url, "--sync", "manual", "--dashboard-listen", f"127.0.0.1:{port}"), port


def test_each_port_has_only_its_own_paths(world):
    backend, proxy, port = world
    backend.requests.clear()
    clients = lambda target, method="GET", fields=(): raw(proxy.port, target, method, fields)
    board = lambda target, method="GET", fields=(): raw(port, target, method, fields)
    # The clients' port: answers of the backend are unchanged; no dashboard, no sign-in.
    status, answer = clients("/api/page")
    assert status == 200 and b"sandbox" not in answer and b"Content-Security-Policy" not in answer
    for target in ("/-/", "/-"):
        status, answer = clients(target)
        assert status == 302 and f"Location: http://127.0.0.1:{port}/-/\r\n".encode() in answer
    for target in ("/-/app.js", "/-/shared/style.css", "/-/none"):
        assert clients(target)[0] == 404
    kind = ["Content-Type: application/json"]
    assert clients("/-/api/v1/session", "POST", kind)[0] == 404
    assert clients("/-/api/v1/status")[0] == 401
    assert clients("/-/livez")[0] == clients("/-/readyz")[0] == clients("/-/metrics")[0] == 200
    assert clients("/api/sw.js", fields=["Service-Worker: script"])[0] == 403
    # The dashboard's port: /-/ and /tables; nothing is passed on.
    count = len([one for one in backend.requests if not one[1].startswith("/tables")])
    for target in ("/api/page", "/.auth/login/aad", "/login/aad", "/push/x", "/x"):
        status, answer = board(target)
        assert status == 404 and b"--listen" in answer, answer
    assert len([one for one in backend.requests if not one[1].startswith("/tables")]) == count
    assert board("/-/")[0] == board("/-/app.js")[0] == board("/-/livez")[0] == 200
    status, answer = board("/", fields=["Accept: text/html"])
    assert status == 302 and b"Location: /-/\r\n" in answer
    assert board("/tables/book", fields=["ZUMO-API-VERSION: 2.0.0"])[0] == 200
    reasons = {one["reason"]: one["count"] for one in proxy.operator("GET", "/rejections")["items"]}
    assert reasons["wrong-port"] == 9


def test_links_status_and_commands_use_the_right_port(world):
    _, proxy, port = world
    wait_until(lambda: f'"dashboard":"http://127.0.0.1:{port}/-/"' in proxy.program.output, what="the first line")
    assert "#link=" not in proxy.program.output
    for number, base in enumerate((proxy.url, f"http://127.0.0.1:{port}", f"http://localhost:{port}")):
        headers = {"Authorization": f"Bearer {proxy.token}"}
        name = base.rsplit(":", 1)[0]
        link = requests.post(base + "/-/api/v1/links", json={}, headers=headers, timeout=10).json()["url"]
        assert link.startswith(f"{name}:{port}/-/#link=")
        made = requests.post(
            base + "/-/api/v1/access", json={"name": f"client{number}"}, headers=headers, timeout=10)
        assert made.json()["url"].startswith(f"{name}:{proxy.port}/c/"), made.text
    assert proxy.status()["addresses"] == {
        "clients": proxy.url, "dashboard": f"http://127.0.0.1:{port}/-/"}
    assert proxy.command("status").returncode in (0, 3)
    assert f":{port}/-/#link=" in proxy.command("open", "--print-only").stdout


def test_a_session_is_valid_only_at_the_dashboards_port(world):
    _, proxy, port = world
    link = proxy.operator("POST", "/links", expect=201, json={})["url"].split("#link=")[1]
    browser = requests.Session()
    answer = browser.post(f"http://127.0.0.1:{port}/-/api/v1/session", json={"link": link}, timeout=10)
    assert answer.status_code == 201 and answer.headers["Set-Cookie"].startswith(f"understudy_{port}=")
    headers = {"Understudy-Session": answer.json()["session"], **ZUMO}
    for at, status in ((port, 200), (proxy.port, 401)):
        assert browser.get(f"http://127.0.0.1:{at}/-/api/v1/status", headers=headers, timeout=10).status_code == status


def test_the_same_port_for_both_is_refused_and_is_the_default_without_the_option(start, backend):
    port = free_port()
    program = start.program(
        "serve", "--backend", backend.url, "--listen", f"127.0.0.1:{port}", "--dashboard-listen", f"127.0.0.1:{port}")
    assert program.process.wait(10) == 2
    wait_until(lambda: "the same port" in program.output, what="the sentence")
    proxy = start.proxy(backend.url, "--sync", "manual")
    assert proxy.status()["addresses"] == {"clients": proxy.url, "dashboard": f"{proxy.url}/-/"}
    assert b"sandbox" in raw(proxy.port, "/api/page")[1]


def test_the_setting_is_in_the_file_and_a_reload_does_not_change_it(start, backend, tmp_path):
    first, second = free_port(), free_port()
    file = tmp_path / "understudy.conf"
    file.write_text(f"dashboard-listen = 127.0.0.1:{first}\n")
    file.chmod(0o600)
    proxy = start.proxy(backend.url, "--sync", "manual", "--config", str(file))
    assert raw(first, "/-/")[0] == 200 and raw(proxy.port, "/-/app.js")[0] == 404
    file.write_text(f"dashboard-listen = 127.0.0.1:{second}\n")
    proxy.program.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "waitsForRestart=dashboard-listen" in proxy.program.output
               or '"waitsForRestart":"dashboard-listen"' in proxy.program.output, 5, "the reload")
    assert raw(first, "/-/")[0] == 200 and raw(proxy.port, "/-/app.js")[0] == 404


def test_doctor_checks_both_addresses(start, backend, tmp_path):
    first, second = free_port(), free_port()
    file = tmp_path / "understudy.conf"

    def found(dashboard):
        file.write_text(f"backend = {backend.url}\nlisten = 127.0.0.1:{first}\ndashboard-listen = 127.0.0.1:{dashboard}\n")
        file.chmod(0o600)
        done = subprocess.run(
            [BINARY, "doctor", "--json", "--data", tmp_path / "data"], capture_output=True, text=True, timeout=60,
            env={**os.environ, "UNDERSTUDY_CONFIG": str(file)})
        (one,) = [one for one in json.loads(done.stdout)["findings"] if one["check"] == "listening"]
        return one["state"], one["finding"]

    state, said = found(second)
    assert state == "ok" and f"127.0.0.1:{first} and 127.0.0.1:{second} for the dashboard are free" in said
    state, said = found(first)
    assert state == "problem" and "same port" in said
    with socket.create_server(("127.0.0.1", second)):
        state, said = found(second)
        assert state == "problem" and f"127.0.0.1:{second}" in said
