"""Each identity has its own rows and queue, by the token from its client-flow login."""

import json
import subprocess

import pytest
import requests
from programs import BINARY, ZUMO, Tables, wait_until


def sign_in(proxy, name, path="/.auth/login/facebook"):
    """Logs in through the proxy as an SDK does, and returns a client with the token."""
    answer = requests.post(proxy.url + path, json={"access_token": name}, headers=ZUMO, timeout=10)
    assert answer.status_code == 200, answer.text
    return with_token(proxy, answer.json()["authenticationToken"])


def with_token(proxy, token):
    client = Tables(proxy.url)
    client.token = token
    client.session.headers["X-ZUMO-AUTH"] = token
    return client


def elsewhere(backend, name):
    """A client of a user who signs in at the backend itself, without the proxy."""
    return sign_in(backend, name)


def key(proxy, name):
    found = [i for i in proxy.status()["identities"] if name in i]
    assert len(found) == 1, proxy.status()["identities"]
    return found[0]


@pytest.fixture
def world(start):
    backend = start.backend("--sign-in", "todoitem")
    return backend, start.proxy(backend.url)


@pytest.fixture(scope="module")
def pair(start_shared):
    backend = start_shared.backend("--sign-in", "todoitem")
    return backend, start_shared.proxy(backend.url)


@pytest.fixture
def shared(pair):
    """A backend that runs and a proxy, for tests that each have users of their own."""
    backend, proxy = pair
    if backend.program.process.poll() is not None:
        backend.start()
    return pair


@pytest.mark.parametrize("path, one, other", [
    ("/.auth/login/facebook", "ana", "ben"), ("/login/facebook", "ina", "udo")])
def test_no_user_sees_rows_of_another_and_each_write_has_its_own_token(shared, path, one, other):
    backend, proxy = shared
    ana, ben = sign_in(proxy, one, path), sign_in(proxy, other, path)
    backend.stop()
    mine = ana.insert({"text": "of ana"})
    his = ben.insert({"text": "of ben"})
    assert ana.get(mine["id"]).status_code == 200
    assert ben.get(mine["id"]).status_code in (404, 503)
    assert [row["text"] for row in ben.all()] == ["of ben"]
    assert Tables(proxy.url).get(mine["id"]).status_code in (401, 404, 503)

    backend.start()
    direct = elsewhere(backend, one), elsewhere(backend, other)
    wait_until(lambda: direct[0].get(mine["id"]).status_code == 200, 30, "ana's todo upstream")
    wait_until(lambda: direct[1].get(his["id"]).status_code == 200, 30, "ben's todo upstream")
    assert [(row["text"], row["userId"]) for row in direct[0].all()] == [("of ana", f"facebook:{one}")]
    assert [(row["text"], row["userId"]) for row in direct[1].all()] == [("of ben", f"facebook:{other}")]


def test_the_operator_sees_all_by_identity(shared):
    backend, proxy = shared
    names = "eva", "kai"
    users = [sign_in(proxy, name) for name in names]
    backend.stop()
    for name, user in zip(names, users):
        user.insert({"text": f"of {name}"})
    for name in names:
        identity = key(proxy, name)
        queue = proxy.operator("GET", f"/operations?identity={identity}")["items"]
        assert [(op["identity"], op["title"]) for op in queue] == [(identity, f"of {name}")]
        (table,) = proxy.operator("GET", f"/tables?identity={identity}")["items"]
        assert table["identity"] == identity
    assert proxy.operator("GET", "/operations")["items"] == []
    proxy.operator("GET", "/operations?identity=nobody", expect=404)


def test_commands_without_an_identity_say_what_waits_in_the_stores_of_users(world):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    assert proxy.command("queue").stderr == ""
    backend.stop()
    ana.insert({"text": "of ana"})
    said = "Users who signed in have 1 open operation in stores of their own"
    for words in (("queue",), ("queue", "groups"), ("conflicts",), ("sync",)):
        assert said in proxy.command(*words).stderr, words
    chosen = proxy.command("queue", "--identity", key(proxy, "ana"))
    assert "of ana" in chosen.stdout and said not in chosen.stderr
    shown = proxy.command("status")
    assert "Users      1 store, 1 open operation: understudy identities" in shown.stdout.splitlines()
    users = json.loads(proxy.command("status", "--json").stdout)["users"]
    assert users == {"stores": 1, "unknown": 0, "openOperations": 1, "conflicts": 0, "quarantined": 0}


def test_the_exit_code_of_the_status_counts_the_conflicts_of_users(world):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    item = ana.insert({"text": "first"})
    direct = elsewhere(backend, "ana")
    wait_until(lambda: direct.get(item["id"]).status_code == 200, 30, "ana's todo upstream")
    wait_until(lambda: proxy.command("status").returncode == 0, 30, "a backend that answers")
    proxy.command("offline")
    ana.update(item["id"], {"text": "mine"})
    direct.update(item["id"], {"text": "theirs"})
    proxy.command("online")
    wait_until(lambda: proxy.command("status").returncode == 4, 30, "the conflict of ana")
    assert proxy.operator("GET", "/conflicts")["items"] == []
    assert "(1 conflict)" in proxy.command("conflicts").stderr


def test_a_token_from_elsewhere_is_verified_with_the_backend(shared):
    backend, proxy = shared
    outside = elsewhere(backend, "cem")
    outside.insert({"id": "c", "text": "of cem"})
    cem = with_token(proxy, outside.token)
    assert cem.get("c").json()["text"] == "of cem"
    assert key(proxy, "cem")
    # The backend itself answers until the pull of the first read has ended.
    wait_until(lambda: cem.request("GET", "/tables/todoitem").headers.get("Age"), what="the first pull")
    backend.stop()
    assert [row["text"] for row in cem.all()] == ["of cem"]
    assert with_token(proxy, outside.token + "x").request("GET", "/tables/todoitem").status_code == 401


def test_a_forged_token_with_a_users_claims_is_refused(shared):
    backend, proxy = shared
    ana = sign_in(proxy, "lea")
    ana.insert({"id": "a", "text": "of ana"})
    head, claims, _ = ana.token.split(".")
    forged = with_token(proxy, f"{head}.{claims}.AAAA")
    assert forged.get("a").status_code == 401
    backend.stop()
    assert forged.get("a").status_code == 401
    assert ana.get("a").status_code == 200


def test_a_refreshed_token_belongs_to_the_same_identity(shared):
    _, proxy = shared
    before = len(proxy.status()["identities"])
    ana = sign_in(proxy, "zoe")
    item = ana.insert({"text": "of ana"})
    answer = ana.request("GET", "/.auth/refresh")
    assert answer.status_code == 200, answer.text
    renewed = answer.json()["authenticationToken"]
    assert renewed != ana.token
    assert with_token(proxy, renewed).get(item["id"]).json()["text"] == "of ana"
    assert len(proxy.status()["identities"]) == before + 1


def test_after_a_restart_the_queue_waits_for_a_sign_in_and_reports_it(world):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    backend.stop()
    item = ana.insert({"text": "waits"})
    proxy.stop()
    backend.start()
    proxy.start()
    identity = key(proxy, "ana")

    def state():
        return proxy.operator("GET", f"/status?identity={identity}")

    status = state()
    assert status["backend"]["state"] == "signedOut"
    assert "token" in status["backend"]["reason"]
    run = proxy.operator("POST", f"/sync?wait=30&identity={identity}", json={})
    assert run["state"] == "signIn"
    assert elsewhere(backend, "ana").get(item["id"]).status_code == 404
    assert state()["queue"]["queued"] + state()["queue"]["waiting"] == 1

    # Known by its fingerprint: the first request with the token brings it back.
    assert ana.get(item["id"]).json()["text"] == "waits"
    direct = elsewhere(backend, "ana")
    wait_until(lambda: direct.get(item["id"]).status_code == 200, 30, "the todo upstream")
    assert state()["backend"]["state"] == "online"


def test_a_public_table_is_shared_by_all_users(start):
    backend = start.backend("--sign-in", "todoitem")
    backend.insert({"id": "n", "text": "for all"}, table="notice")
    proxy = start.proxy(backend.url, "--policy", "notice=public")
    ana = sign_in(proxy, "ana")
    assert ana.get("n", table="notice").json()["text"] == "for all"
    made = ana.insert({"text": "seen by all"}, table="notice")
    backend.stop()
    assert Tables(proxy.url).get(made["id"], table="notice").json()["text"] == "seen by all"
    unknown = with_token(proxy, "a token that the backend does not know")
    assert unknown.get("n", table="notice").status_code == 200


def test_the_queue_of_a_user_is_brought_back_after_a_restore(world, tmp_path):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    ana.insert({"id": "early", "text": "of ana"})
    wait_until(lambda: ana.get("early").headers.get("Understudy-State") == "synced", 30, "ana's todo upstream")
    copy, old = tmp_path / "copy", tmp_path / "old"
    assert proxy.command("backup", copy).returncode == 0
    backend.stop()
    ana.insert({"id": "late", "text": "of ana"})
    proxy.stop()
    assert proxy.command("restore", copy, "--yes").returncode == 0
    old.mkdir(mode=0o700)
    next(proxy.folder.glob("stores.before-*")).rename(old / "stores")
    (store,) = [found.name for found in (old / "stores").iterdir() if found.is_dir() and found.name != "anonymous"]

    def export(name, *options):
        file = tmp_path / f"{name}.jsonl"
        done = subprocess.run(
            [str(BINARY), "export", "--data", str(old), "--only", "queue", "--output", str(file), *options],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return file, done.stderr

    # The store of clients that do not sign in lacks it, and the command says so.
    _, said = export("anonymous")
    assert store in said and "--identity" in said
    file, said = export("ana", "--identity", store)
    assert "Not in this export" not in said
    done = proxy.command("import", file, "--identity", store)
    assert done.returncode == 0, done.stderr
    proxy.start()
    waiting = proxy.operator("GET", f"/operations?identity={store}")["items"]
    assert [(one["itemId"], one["kind"]) for one in waiting] == [("late", "insert")]
