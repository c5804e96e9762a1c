"""`--remember-sign-in`: a user's queue is sent after a restart, and no token is stored in the clear."""

import os
import signal

import pytest
from programs import sign_in, wait_until

OPTION = "--remember-sign-in"


@pytest.fixture
def world(start):
    backend = start.backend("--sign-in", "todoitem")
    return backend, start.proxy(backend.url, OPTION)


def restart(proxy, number=signal.SIGKILL):
    proxy.program.stop(number)
    proxy.start()


def key(proxy):
    (found,) = [one for one in proxy.status()["identities"] if "ana" in one]
    return found


def reaches(backend, item, seconds=30):
    direct = sign_in(backend, "ana")
    wait_until(lambda: direct.get(item["id"]).status_code == 200, seconds, "the todo upstream")


def state(proxy):
    return proxy.operator("GET", f"/status?identity={key(proxy)}")["backend"]["state"]


def assert_sealed(proxy, *clients):
    for path in proxy.folder.rglob("*"):
        if path.is_file():
            assert path.stat().st_mode & 0o077 == 0, path
            for client in clients:
                assert client.token.split(".")[2].encode() not in path.read_bytes(), path


def test_a_queued_write_is_sent_after_kill_9_without_a_new_sign_in(world):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    backend.stop()
    item = ana.insert({"text": "queued"})
    assert_sealed(proxy, ana)
    proxy.program.kill()
    backend.start()
    proxy.start()
    reaches(backend, item)
    assert state(proxy) == "online"
    assert_sealed(proxy, ana)


def test_a_sign_in_is_remembered_before_its_client_is_answered(world):
    _, proxy = world
    for number in range(5):
        sign_in(proxy, "ana")
        restart(proxy)
        assert state(proxy) != "signedOut", number


def test_without_the_option_remembered_sign_ins_are_removed(world):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    assert (proxy.folder / "sign-ins").exists() and (proxy.folder / "sign-ins.key").exists()
    proxy.arguments.remove(OPTION)
    restart(proxy)
    assert not list(proxy.folder.glob("sign-ins*"))
    assert state(proxy) == "signedOut"
    proxy.arguments.append(OPTION)
    restart(proxy)
    assert state(proxy) == "signedOut"
    ana.insert({"id": "a", "text": "comes back"})
    reaches(backend, {"id": "a"})
    backend.stop()
    restart(proxy)
    assert state(proxy) != "signedOut"


def test_a_sign_out_removes_the_remembered_sign_in(world):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    item = ana.insert({"text": "of ana"})
    reaches(backend, item)
    answer = ana.request("GET", "/.auth/logout", allow_redirects=False)
    assert answer.status_code == 302
    assert state(proxy) == "signedOut"
    assert ana.get(item["id"]).status_code == 401
    restart(proxy)
    assert state(proxy) == "signedOut"
    again = sign_in(proxy, "ana")
    assert again.get(item["id"]).json()["text"] == "of ana"


def test_a_refused_token_is_removed_and_no_write_is_lost(start):
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url, OPTION)
    ana = sign_in(proxy, "ana")
    before = (proxy.folder / "sign-ins").read_bytes()
    # Signed out at the backend itself, so the token is no longer good.
    ana.url = backend.url
    assert ana.request("GET", "/.auth/logout", allow_redirects=False).status_code == 302
    ana.url = proxy.url
    item = ana.insert({"id": "w", "text": "waits"})
    wait_until(lambda: state(proxy) == "signedOut", 20, "the 401")
    wait_until(lambda: (proxy.folder / "sign-ins").read_bytes() != before, what="the forgetting")
    restart(proxy)
    status = proxy.operator("GET", f"/status?identity={key(proxy)}")
    assert "token is not here" in status["backend"]["reason"]
    sign_in(proxy, "ana")
    reaches(backend, item)


@pytest.mark.parametrize("harm", ["another key", "no key", "damage"])
def test_an_unreadable_file_is_reported_and_needs_only_a_new_sign_in(world, harm):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    backend.stop()
    item = ana.insert({"text": "waits"})
    proxy.program.kill()
    sealed, secret = proxy.folder / "sign-ins", proxy.folder / "sign-ins.key"
    if harm == "another key":
        secret.write_text("0" * 64)
    elif harm == "no key":
        secret.unlink()
    else:
        sealed.write_bytes(sealed.read_bytes()[:-1])
    backend.start()
    proxy.start()
    assert "sign in again" in proxy.program.output
    assert any("sign in again" in one for one in proxy.status()["warnings"])
    assert state(proxy) == "signedOut"
    assert sign_in(backend, "ana").get(item["id"]).status_code == 404
    sign_in(proxy, "ana")
    reaches(backend, item)


def test_a_key_open_to_others_stops_the_start_with_a_repair_command(world):
    _, proxy = world
    sign_in(proxy, "ana")
    proxy.stop()
    os.chmod(proxy.folder / "sign-ins.key", 0o644)
    done = proxy.command("doctor")
    assert "sign-ins.key is open to other users" in done.stdout + done.stderr
    with pytest.raises(AssertionError, match="chmod -R go="):
        proxy.start()


def test_the_service_managers_credential_is_the_key(start, tmp_path):
    credentials = tmp_path / "credentials"
    credentials.mkdir(mode=0o700)
    secret = credentials / "understudy.key"
    secret.write_text("9f" * 32 + "\n")
    secret.chmod(0o400)
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url)
    proxy.stop()
    proxy.arguments.append(OPTION)
    proxy.environment = {"CREDENTIALS_DIRECTORY": str(credentials)}
    proxy.start()
    ana = sign_in(proxy, "ana")
    backend.stop()
    item = ana.insert({"text": "queued"})
    assert not (proxy.folder / "sign-ins.key").exists()
    proxy.program.kill()
    backend.start()
    proxy.start()
    reaches(backend, item)
    secret.chmod(0o444)
    restart(proxy)
    assert "chmod 400" in proxy.program.output
    assert state(proxy) == "signedOut"


def test_backups_and_exports_have_neither_tokens_nor_the_key(world, tmp_path):
    _, proxy = world
    out = tmp_path / "out"
    out.mkdir()
    ana = sign_in(proxy, "ana")
    secret = (proxy.folder / "sign-ins.key").read_text().strip()
    sealed = (proxy.folder / "sign-ins").read_bytes()
    for command in (
        ("backup", out / "backup"),
        ("export", "--output", out / "export.jsonl"),
    ):
        done = proxy.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    files = [path for path in out.rglob("*") if path.is_file()]
    assert any(path.name == "export.jsonl" for path in files)
    for path in files:
        data = path.read_bytes()
        assert secret.encode() not in data and sealed not in data, path
        assert ana.token.split(".")[2].encode() not in data, path
        assert path.name not in ("sign-ins", "sign-ins.key")
