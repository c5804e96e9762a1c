"""Access: client addresses, the Unix socket, browser sessions, files."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile

import pytest
import requests
from by_hand import Browser
from programs import ZUMO, Proxy, Tables, wait_until


def add(proxy, name):
    """Makes a capability address by command and returns a client that uses it."""
    made = proxy.command("access", "add", name)
    assert made.returncode == 0, made.stderr
    url = made.stdout.strip()
    assert re.fullmatch(rf"{re.escape(proxy.url)}/c/[A-Za-z0-9_-]{{43}}", url)
    return Tables(url)


@pytest.fixture
def world(start):
    backend = start.backend()
    return backend, start.proxy(backend.url, "--tables-access", "capability")


def test_an_unmodified_client_works_at_its_own_address_and_history_names_it(world):
    backend, proxy = world
    phone = add(proxy, "phone")
    item = phone.insert({"text": "from the phone"})
    phone.update(item["id"], {"text": "from the phone, edited"})
    assert [row["text"] for row in phone.list(_filter="id ne ''")] == ["from the phone, edited"]
    wait_until(lambda: backend.get(item["id"]).status_code == 200, 30, "the row upstream")
    history = proxy.operator("GET", "/history")["items"]
    writes = [entry for entry in history if entry["kind"] == "write"]
    assert {(entry["actor"], entry["client"]) for entry in writes} == {("client", "phone")}
    shown = proxy.command("history", "--kind", "changed", "--by", "phone", "--item", item["id"]).stdout
    (line,) = shown.splitlines()
    number, _, by, kind, name, title, values = line.split("  ")
    assert (by, kind, name, title) == ("phone", "changed", f"todoitem/{item['id']}", "from the phone, edited")
    assert values == 'text: "from the phone" → "from the phone, edited"'
    assert proxy.command("history", "--kind", "changed", "--by", by, "--item", name).stdout == shown
    assert values in proxy.command("history", "show", number).stdout
    assert proxy.command("history", "--by", "nobody").returncode == 2
    (address,) = proxy.operator("GET", "/access")["items"]
    assert address["name"] == "phone" and address["lastUsedAt"]


def test_with_capability_access_plain_tables_is_401_without_effect(world):
    backend, proxy = world
    for method in ("GET", "POST"):
        answer = proxy.request(method, "/tables/todoitem", json={"text": "no"} if method == "POST" else None)
        assert answer.status_code == 401
        assert "understudy access add" in answer.text
    assert proxy.status()["ledger"]["accepted"] == 0
    # The operator token gives access, as a session of the dashboard does.
    headers = {"Authorization": f"Bearer {proxy.token}", **ZUMO}
    assert requests.get(proxy.url + "/tables/todoitem", headers=headers, timeout=10).status_code == 200
    reasons = {one["reason"]: one for one in proxy.operator("GET", "/rejections")["items"]}
    assert reasons["capability"]["count"] == 2


def test_a_revoked_address_is_invalid_at_once_and_after_a_restart(world):
    _, proxy = world
    phone, tablet = add(proxy, "phone"), add(proxy, "tablet")
    assert phone.request("GET", "/tables/todoitem").status_code == 200
    taken = proxy.command("access", "add", "phone")
    assert taken.returncode == 1 and "revoke" in taken.stderr
    assert proxy.command("access", "revoke", "phone").returncode == 0
    assert proxy.command("access", "revoke", "phone").returncode == 1
    assert phone.request("GET", "/tables/todoitem").status_code == 401
    proxy.stop()
    proxy.start()
    assert phone.request("GET", "/tables/todoitem").status_code == 401
    assert tablet.request("GET", "/tables/todoitem").status_code == 200
    listed = proxy.command("access").stdout
    assert "tablet" in listed and "phone" not in listed


def test_a_secret_is_kept_nowhere(world):
    _, proxy = world
    phone = add(proxy, "phone")
    phone.insert({"text": "x"})
    secret = phone.url.rsplit("/", 1)[1]
    answers = [
        json.dumps(proxy.operator("GET", path))
        for path in ("/access", "/history", "/operations?state=all", "/rejections", "/status")
    ]
    answers.append(requests.get(proxy.url + "/-/metrics", timeout=10).text)
    proxy.stop()
    for path in proxy.folder.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
    assert secret not in proxy.program.output
    assert not any(secret in answer for answer in answers)


@pytest.fixture(scope="module")
def closed(start_shared):
    """A proxy that nobody has an address of."""
    return start_shared.proxy("http://127.0.0.1:9", "--sync", "manual", "--tables-access", "capability")


@pytest.mark.parametrize("secret", ["", "x", "A" * 43, "%41" * 43, "..", "a?b=c"])
def test_a_guessed_address_is_refused(closed, secret):
    answer = closed.request("GET", f"/c/{secret}/tables/todoitem")
    # A client library resolves the dots to the plain address, which is closed.
    assert answer.status_code in (401, 400), answer.text


def test_an_address_reaches_no_operator_api_and_obeys_the_origin_rule(world):
    _, proxy = world
    phone = add(proxy, "phone")
    assert phone.request("GET", "/-/api/v1/status").status_code == 401
    assert phone.request("GET", "/-/").status_code == 401
    answer = phone.request("GET", "/tables/todoitem", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert phone.request("POST", "/tables/todoitem", data="x", headers={"Content-Type": "text/plain"}).status_code == 415


def ask_socket(path, raw):
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(10)
        wire.connect(str(path))
        wire.sendall(raw)
        answer = b""
        while chunk := wire.recv(65536):
            answer += chunk
    return answer


def test_a_unix_socket_for_this_user_alone(start, tmp_path):
    path = tmp_path / "s"
    backend = start.backend()
    proxy = start.proxy(backend.url, "--tables-access", "capability", "--socket", str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    raw = b"GET /tables/todoitem HTTP/1.1\r\nHost: x\r\nZUMO-API-VERSION: 2.0.0\r\nConnection: close\r\n\r\n"
    assert ask_socket(path, raw).startswith(b"HTTP/1.1 200")
    foreign = raw.replace(b"Host: x", b"Host: x\r\nOrigin: https://evil.example")
    assert ask_socket(path, foreign).startswith(b"HTTP/1.1 403")
    api = raw.replace(b"/tables/todoitem", b"/-/api/v1/status")
    assert ask_socket(path, api).startswith(b"HTTP/1.1 401")
    # A crash leaves the socket file; the next start replaces it. A clean stop removes it.
    proxy.program.kill()
    assert path.exists()
    proxy.start()
    assert ask_socket(path, raw).startswith(b"HTTP/1.1 200")
    proxy.stop()
    assert not path.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_can_use_neither_the_socket_nor_the_files(start):
    with tempfile.TemporaryDirectory(prefix="understudy-") as folder:
        os.chmod(folder, 0o755)
        backend = start.backend()
        proxy = Proxy(f"{folder}/data", backend.url, ["--tables-access", "capability", "--socket", f"{folder}/s"])
        proxy.start()
        try:
            attempts = [
                f"import socket; socket.socket(socket.AF_UNIX).connect('{folder}/s')",
                f"open('{folder}/data/operator.token')",
                f"import os; os.listdir('{folder}/data')",
                f"open('{folder}/data/stores/anonymous/store.sqlite', 'rb')",
            ]
            for attempt in attempts:
                mine = subprocess.run([sys.executable, "-c", attempt], capture_output=True, text=True)
                assert mine.returncode == 0, mine.stderr
                theirs = subprocess.run(
                    ["/usr/bin/python3", "-c", attempt], capture_output=True, text=True, user=65534, group=65534,
                    extra_groups=[],
                )
                assert "PermissionError" in theirs.stderr, (attempt, theirs.stderr)
        finally:
            proxy.program.kill()


def test_sessions_are_listed_and_revoked_by_command(start):
    proxy = start.proxy(start.backend().url)
    mine, other = Browser(proxy, "Firefox of ana"), Browser(proxy, "Chromium of ben")
    listed = mine.get("/sessions").json()["items"]
    assert [(one["browser"], one["isCurrent"]) for one in listed] == [
        ("Chromium of ben", False),
        ("Firefox of ana", True),
    ]
    text = proxy.command("sessions").stdout
    assert "Firefox of ana" in text and "Chromium of ben" in text
    cookie = other.session.cookies.get(f"understudy_{proxy.port}")
    assert cookie not in json.dumps(listed) and other.headers["Understudy-Session"] not in json.dumps(listed)
    assert proxy.command("sessions", "revoke", listed[0]["id"]).returncode == 0
    assert proxy.command("sessions", "revoke", listed[0]["id"]).returncode == 1
    assert other.get().status_code == 401
    assert mine.get().status_code == 200


def test_a_link_works_once_and_a_sign_out_ends_the_session(start):
    proxy = start.proxy(start.backend().url)
    browser = Browser(proxy, "b")
    link = proxy.operator("POST", "/links", expect=201, json={})["url"].split("#link=")[1]
    post = lambda: requests.post(proxy.url + "/-/api/v1/session", json={"link": link}, timeout=10)
    assert post().status_code == 201
    assert post().status_code == 401
    answer = browser.session.delete(proxy.url + "/-/api/v1/session", headers=browser.headers, timeout=10)
    assert answer.status_code == 204 and "Max-Age=0" in answer.headers["Set-Cookie"]
    assert browser.get().status_code == 401


def test_every_file_is_private_after_every_kind_of_work(start, tmp_path):
    old = os.umask(0)  # The program does not depend on the umask at its start.
    try:
        backend = start.backend()
        proxy = start.proxy(backend.url, "--socket", str(tmp_path / "proxy" / "s"))
    finally:
        os.umask(old)
    add(proxy, "phone").insert({"text": "x"})
    Browser(proxy, "b")
    proxy.sync()
    checked = 0
    for path in [proxy.folder, *proxy.folder.rglob("*")]:
        assert path.lstat().st_mode & 0o077 == 0, path
        checked += 1
    assert checked >= 8


@pytest.mark.parametrize(
    "loosen, mend",
    [
        (lambda folder: folder.chmod(0o755), "chmod -R go="),
        (lambda folder: (folder / "operator.token").chmod(0o644), "chmod -R go="),
        (lambda folder: (folder / "stores" / "anonymous" / "store.sqlite").chmod(0o640), "chmod -R go="),
    ],
)
def test_a_start_on_files_open_to_others_is_refused_with_a_repair_command(start, loosen, mend):
    proxy = start.proxy(start.backend().url)
    proxy.stop()
    loosen(proxy.folder)
    refused = start.program("serve", "--backend", proxy.backend_url, "--data", proxy.folder)
    assert refused.process.wait(10) == 2
    wait_until(lambda: mend in refused.output, what="the command")
    command = refused.output[refused.output.index("chmod"):]
    assert os.system(command) == 0
    proxy.start()
    assert proxy.request("GET", "/tables/todoitem").status_code == 200
