"""Header fields of every request to the backend, with values from files (`--backend-header`)."""

import json
import os
import subprocess

import pytest
import requests
from hostile import HTTPBackend, honest
from programs import BINARY, ZUMO

KEY = "Ocp-Apim-Subscription-Key"
VALUE = "planted-subscription-value"
PASSED = "/api/thing"
LOGIN = "/.auth/login/aad"


def keyed(handler, body):
    """A gateway that refuses what comes without its key, as API Management does."""
    if handler.headers.get(KEY) != VALUE or len(handler.headers.get_all(KEY)) != 1:
        return handler.answer(401, b'{"statusCode":401,"message":"missing subscription key"}')
    if handler.path.startswith(LOGIN):
        token = {"authenticationToken": "a.b.c", "user": {"userId": "sid:1"}}
        return handler.answer(200, json.dumps(token).encode())
    if "/Files" in handler.path or handler.path.startswith("/api/"):
        return handler.answer(200, b'{"ok":true}')
    return honest(handler, body)


@pytest.fixture
def backend():
    backend = HTTPBackend(keyed)
    yield backend
    backend.shutdown()


@pytest.fixture
def run(tmp_path):
    """Runs a command without a data folder of before; gives the finished process."""
    def run(*arguments, **environment):
        own = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **environment}
        return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60, env=own,
                              stdin=subprocess.DEVNULL)
    return run


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "subscription.key"
    file.write_text(VALUE + "\n")
    file.chmod(0o600)
    return file


def test_every_request_has_the_field_and_no_record_has_its_value(start, backend, key, run):
    proxy = start.proxy(backend.url, "--sync", "manual", "--log-level", "trace", "--backend-header", f"{KEY}=@{key}")
    assert proxy.request("GET", "/tables/book").json() == []
    proxy.sync()
    assert proxy.request("POST", "/tables/book", json={"id": "a", "title": "x"}).status_code == 201
    proxy.sync()
    own = {KEY: "the client's own", "ZUMO-API-VERSION": "2.0.0"}
    for method, path in (("GET", PASSED), ("POST", PASSED), ("GET", "/tables/book/a/Files"), ("GET", "/tables/other"),
                         ("POST", LOGIN)):
        answer = requests.request(method, proxy.url + path, headers=own, json={"access_token": "t"}, timeout=10)
        assert answer.status_code == 200, (method, path, answer.text)
    token = {**ZUMO, "X-ZUMO-AUTH": "unknown.token.here"}
    requests.get(proxy.url + "/tables/private", headers=token, timeout=10)
    assert f"backend: {backend.url} answers" in proxy.command("doctor").stdout
    asked = {(method, path.split("?")[0]) for method, path, _, _ in backend.requests}
    assert {("GET", "/tables/book"), ("POST", "/tables/book"), ("GET", PASSED), ("POST", PASSED), ("POST", LOGIN),
            ("GET", "/tables/book/a/Files"), ("GET", "/tables/other"), ("GET", "/tables/private")} <= asked
    assert all(fields.get(KEY) == VALUE for _, _, fields, _ in backend.requests)
    status = proxy.operator("GET", "/status")
    assert status["backend"]["state"] == "online" and sum(status["queue"].values()) == 0
    settings = json.dumps(status) + json.dumps(proxy.operator("GET", "/operations?state=done"))
    done = proxy.operator("GET", "/operations?state=done")["items"][0]
    settings += json.dumps(proxy.operator("GET", f"/operations/{done['id']}"))
    settings += proxy.command("export").stdout
    proxy.stop()
    assert VALUE not in settings + proxy.program.output
    for file in proxy.folder.rglob("*"):
        assert not file.is_file() or VALUE.encode() not in file.read_bytes(), file
    shown = run("config", "show", UNDERSTUDY_BACKEND_HEADER=f"{KEY}=@{key}").stdout
    assert f"backend-header = {KEY}=@{key}" in shown and VALUE not in shown


def test_without_the_field_the_backend_asks_to_sign_in_and_doctor_names_the_option(start, backend, run):
    proxy = start.proxy(backend.url, "--sync", "manual")
    assert proxy.request("GET", "/tables/book").status_code == 401
    said = run("doctor", UNDERSTUDY_BACKEND=backend.url, UNDERSTUDY_TABLE="book").stdout
    assert "asks to sign in" in said and "--backend-header" in said


def test_a_credential_of_systemd_gives_the_value(run, backend, key):
    settings = {"UNDERSTUDY_BACKEND": backend.url, "UNDERSTUDY_TABLE": "book",
                "UNDERSTUDY_BACKEND_HEADER": f"{KEY}=@credentials/{key.name}"}
    assert f"{backend.url} answers" in run("doctor", **settings, CREDENTIALS_DIRECTORY=str(key.parent)).stdout
    assert "finds no value" in run("doctor", **settings).stdout


@pytest.mark.parametrize("text, said", [
    (f"{KEY}={VALUE}", "NAME=@FILE"), (KEY, "NAME=@FILE"), (f"{KEY}=@", "NAME=@FILE"), (f"{KEY}=@relative", "absolute path"), ("=@key", "NAME=@FILE"),
    ("no name=@key", "NAME=@FILE"), ("Host=@key", "does not write itself"), ("X-ZUMO-AUTH=@key", "does not write itself"),
    ("ZUMO-API-VERSION=@key", "does not write itself"), ("Content-Length=@key", "does not write itself"),
    ("Transfer-Encoding=@key", "does not write itself"), ("If-Match=@key", "does not write itself"),
    ("Cookie=@key", "does not write itself"),
])
def test_a_value_or_a_reserved_name_stops_the_start_and_is_not_shown(run, text, said):
    refused = run("serve", "--backend", "http://127.0.0.1:9", "--backend-header", text)
    assert refused.returncode == 2 and said in refused.stderr and VALUE not in refused.stderr, refused.stderr


@pytest.mark.parametrize("content", [None, b"", b" \n", b"two\nlines\n", b"\xff\xfe", b"a\0b", b"x" * 4097])
def test_a_file_without_a_value_in_one_line_stops_the_start(run, tmp_path, content):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    refused = run("serve", "--backend", "http://127.0.0.1:9", "--backend-header", f"{KEY}=@{file}")
    assert refused.returncode != 0 and str(file) in refused.stderr, refused.stderr
    assert "rite" in refused.stderr and "two" not in refused.stderr


def test_a_clients_key_that_is_forwarded_is_used_for_syncing_where_the_backend_wants_one(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual", "--forward-header", KEY)
    own = {KEY: VALUE}
    assert proxy.request("GET", "/tables/book", headers=own).json() == []
    proxy.sync()
    assert proxy.request("POST", "/tables/book", json={"id": "a"}, headers=own).status_code == 201
    proxy.sync()
    status = proxy.status()
    assert status["backend"]["state"] == "online" and sum(status["queue"].values()) == 0
    done = proxy.operator("GET", "/operations?state=done")["items"][0]
    assert VALUE not in json.dumps(proxy.operator("GET", f"/operations/{done['id']}"))
    proxy.stop()
    # The key was in memory alone. A client's read that the backend answers brings it again.
    proxy.start()
    proxy.sync()
    assert proxy.status()["backend"]["state"] == "signedOut"
    assert proxy.request("GET", "/tables/book?own=1", headers=own).status_code == 200
    proxy.sync()
    assert proxy.status()["backend"]["state"] == "online"
