"""Users move in: their rows get them as owners, and their queues drain at a backend that issues other tokens."""

import json
import signal

from moving import columns, moved, rows, run, run_site
from programs import Tables, wait_until
from site_access import ADMIN, KEY, token, write_file

OLD, NEW = "https://old.example", "https://new.example"


def site(start, tmp_path, name, issuer):
    """A site's backend with its rows in the folder `name`."""
    files = tmp_path / f"{name}-files"
    files.mkdir()
    write_file(files / "own.key", KEY + "\n", 0o600)
    write_file(files / "access.json", json.dumps(
        {"own": {"issuer": issuer, "audience": "todos", "keyFile": "own.key"}}), 0o644)
    write_file(files / "admin.token", ADMIN + "\n", 0o600)
    return start.node(
        "--access-file", files / "access.json", "--admin-token-file", files / "admin.token",
        "--table", "todos:per-user", "--drain", "0", folder=name)


def client(server, issuer, user):
    client = Tables(server.url)
    client.session.headers["X-ZUMO-AUTH"] = token(user, iss=issuer)
    return client


def written(client, method, path, row):
    answer = client.request(method, f"/tables/todos{path}", json=row)
    assert answer.status_code in (200, 201), answer.text


def identities(proxy):
    return {one["identity"]: one["openOperations"] for one in proxy.operator("GET", "/identities")["items"]
            if one["identity"] != "anonymous"}


def synced(proxy, identity):
    run = proxy.operator("POST", f"/sync?wait=30&identity={identity}", json={})
    assert run["state"] == "complete", run


def pulled(proxy, identity):
    run = proxy.operator("POST", f"/tables/todos/pull?wait=30&identity={identity}", json={})
    assert run["state"] == "complete", run


def state_of(proxy, identity, id):
    found = proxy.operator("GET", f"/operations?identity={identity}")["items"]
    return next(one["state"] for one in found if one["itemId"] == id)


def warned(proxy, identity):
    return [one for one in proxy.status()["warnings"] if f"{identity} (" in one]


def moved_with_a_queue(start, tmp_path):
    """A proxy of a user whose changes the old backend never got, the user's store, and the new backend."""
    old = site(start, tmp_path, "old", OLD)
    proxy = start.proxy(old.url, "--sync", "manual")
    ana = client(proxy, OLD, "sid:0123")
    for id, text in {"synced": "one", "dropped": "gone"}.items():
        written(client(old, OLD, "sid:0123"), "POST", "", {"id": id, "text": text})
    assert ana.request("GET", "/tables/todos").status_code == 200
    (store,) = identities(proxy)
    pulled(proxy, store)
    # The old backend ends while it has the request of the deletion, so that its outcome stays unknown.
    old.program.process.send_signal(signal.SIGSTOP)
    assert ana.request("DELETE", "/tables/todos/dropped").status_code == 204
    written(ana, "POST", "", {"id": "queued", "text": "two"})
    written(ana, "PATCH", "/synced", {"text": "one b"})
    proxy.operator("POST", f"/sync?identity={store}", json={}, expect=202)
    wait_until(lambda: state_of(proxy, store, "dropped") == "sending", what="the request")
    old.program.kill()
    wait_until(lambda: state_of(proxy, store, "dropped") == "unknown", what="the end of the request")
    file = tmp_path / "ana.jsonl"
    assert proxy.command("export", "--identity", store, "--output", file).returncode == 0
    proxy.stop()
    done = moved("import", file, "--data", tmp_path / "new", "--owner", "aad:ana", "--owner-was", "sid:0123",
                 "--owned-table", "todos", "--in-use")
    assert (done["tables"][0]["added"], done["otherOwners"]) == (2, [])
    new = site(start, tmp_path, "new", NEW)
    proxy.backend_url = new.url
    return proxy, store, new


# The versions and the owners are others than those that the changes started from. No writer changed them.
EXPECTED = {
    "dropped": {"id": "dropped", "text": "gone", "userId": "aad:ana", "deleted": True},
    "queued": {"id": "queued", "text": "two", "userId": "aad:ana", "deleted": False},
    "synced": {"id": "synced", "text": "one b", "userId": "aad:ana", "deleted": False},
}


def test_a_users_queue_drains_at_a_backend_with_another_issuer(start, tmp_path):
    proxy, store, new = moved_with_a_queue(start, tmp_path)
    proxy.start("--rebind")
    assert f"--rebind --identity {store}=USER" in warned(proxy, store)[0]
    wait_until(lambda: any(store in line and "changes wait" in line for line in proxy.program.lines), what="the warning")
    proxy.stop()
    assert f"{store}: 3 changes wait" in proxy.command("doctor").stdout
    without = run("serve", "--backend", new.url, "--data", proxy.folder, "--identity", f"{store}=aad:ana", expect=2)
    assert "--identity belongs to --rebind" in without.stderr
    proxy.start("--rebind", "--identity", f"{store}=aad:ana")
    # The word is on disk, and counts without being said again.
    proxy.program.kill()
    proxy.start()

    # Another user of the new backend gets a store of their own.
    bob = client(proxy, NEW, "aad:bob")
    assert bob.request("GET", "/tables/todos").json() == []
    ana = client(proxy, NEW, "aad:ana")
    for id in ("queued", "synced"):
        answer = ana.request("GET", f"/tables/todos/{id}")
        assert (answer.status_code, answer.json()["text"]) == (200, EXPECTED[id]["text"])
    assert len(identities(proxy)) == 2
    assert warned(proxy, store) == []
    synced(proxy, store)
    assert identities(proxy)[store] == 0
    assert columns(rows(client(new, NEW, "aad:ana"), "todos")) == EXPECTED
    assert columns(rows(ana, "todos")) == EXPECTED
    assert rows(client(new, NEW, "aad:bob"), "todos") == {}
    assert set(identities(proxy).values()) == {0}


def test_a_user_who_has_signed_in_already_gets_the_store_too(start, tmp_path):
    proxy, store, new = moved_with_a_queue(start, tmp_path)
    proxy.start("--rebind")
    ana = client(proxy, NEW, "aad:ana")
    assert {row["id"] for row in ana.request("GET", "/tables/todos").json()} == {"synced", "dropped"}
    (second,) = set(identities(proxy)) - {store}
    pulled(proxy, second)
    written(ana, "POST", "", {"id": "meanwhile", "text": "three"})
    assert identities(proxy) == {store: 3, second: 1}
    proxy.stop()
    word = ["--rebind", "--identity", f"{store}={second}"]
    # What was not sent is not put aside.
    refused = run("serve", "--backend", new.url, "--data", proxy.folder, *word, expect=2)
    assert f"The store {second} has 1 changes that were not sent" in refused.stderr
    proxy.start()
    assert ana.request("GET", "/tables/todos").status_code == 200
    synced(proxy, second)
    proxy.stop()
    proxy.start(*word)
    assert set(identities(proxy)) == {store}
    assert (proxy.folder / f"stores.replaced/{second}/store.sqlite").exists()
    # The token that the second store knew is asked about again.
    assert ana.request("GET", "/tables/todos/queued").json()["text"] == "two"
    synced(proxy, store)
    assert identities(proxy) == {store: 0}
    expected = {**EXPECTED, "meanwhile": {"id": "meanwhile", "text": "three", "userId": "aad:ana", "deleted": False}}
    assert columns(rows(client(new, NEW, "aad:ana"), "todos")) == expected
    assert columns(rows(ana, "todos")) == expected


def lines(*found):
    return "".join(json.dumps(one) + "\n" for one in [{"type": "export"}, *found, {"type": "end"}])


def server_row(id, **columns):
    return {"type": "server", "table": "todos", "idKind": "string", "id": id, "columns": columns, "version": "AAAB",
            "updatedAt": "2026-01-02T03:04:05.1234567Z", "deleted": False}


def test_rows_of_another_owner_are_counted_and_mended_before_anything_is_written(start, tmp_path):
    file = tmp_path / "ana.jsonl"
    file.write_text(lines(server_row("a", userId="sid:1"), server_row("b", userId="sid:1"), server_row("c")))
    place = ["--data", tmp_path / "new"]
    whose = ["--owner", "aad:ana", "--owned-table", "Todos"]
    others = [{"table": "todos", "rows": 2, "example": '"sid:1"'}]
    assert moved("import", file, *place, *whose, "--dry-run", expect=4)["otherOwners"] == others
    told = run_site("import", file, *place, *whose, "--dry-run", expect=4).stdout
    assert "todos: 2 with another owner than aad:ana" in told and "--owner-was" in told
    # A table that nothing has.
    typed = ["--owner", "aad:ana", "--owned-table", "todo"]
    refused = run_site("import", file, *place, *typed, "--dry-run", expect=1)
    assert "--owned-table names todo" in refused.stderr and "rows of: todos" in refused.stderr
    # Nothing was made.
    assert not (tmp_path / "new").exists()
    run_site("import", file, *place, *typed, expect=1)
    assert moved("import", file, *place, *whose, "--owner-was", "sid:1")["tables"][0]["added"] == 3
    # Standard input is read once, so the rows have moved, and the report says so before the error.
    once = run_site("import", "-", "--data", tmp_path / "once", *typed, input=file.read_text(), expect=1)
    assert "todos: 3 new" in once.stdout
    assert "--owned-table names todo" in once.stderr and "moved as the report says" in once.stderr
    # A table of this backend may have no row of a user.
    (tmp_path / "none.jsonl").write_text(lines())
    assert moved("import", tmp_path / "none.jsonl", *place, *whose)["otherOwners"] == []
    new = site(start, tmp_path, "new", NEW)
    assert sorted(rows(client(new, NEW, "aad:ana"), "todos")) == ["a", "b", "c"]


def test_rows_that_no_user_would_see_are_counted(start, tmp_path):
    file, settings = tmp_path / "ana.jsonl", tmp_path / "backend.conf"
    file.write_text(lines(server_row("a", userid="aad:ana"), server_row("b"), server_row("c", userId=None)))
    settings.write_text("table = todos:per-user\n")
    settings.chmod(0o644)
    place = ["--data", tmp_path / "new", "--config", settings]
    whose = ["--owner", "aad:ana", "--owned-table", "todos"]
    found = moved("import", file, *place, "--dry-run", expect=4)
    assert found["withoutOwner"] == [{"table": "todos", "rows": 2, "column": "userId"}]
    told = run_site("import", file, *place, "--dry-run", expect=4).stdout
    assert "todos: 2 rows have no owner in userId, so no user sees them." in told and "--owned-table" in told
    for column, words in [("id", "--owner-column names"), ("__version", "--owner-column names"), ("", "per-user=")]:
        refused = run_site("import", file, *place, *whose, "--owner-column", column, expect=2)
        assert words in refused.stderr
    empty = ["--owner", "", "--owned-table", "todos"]
    assert "--owner is empty" in run_site("import", file, *place, *empty, expect=2).stderr
    assert moved("import", file, *place, *whose)["withoutOwner"] == []
    # The rows here have their owner now: they differ from those of the file, and nothing more is said of these.
    again = moved("import", file, *place, expect=4)
    assert (again["withoutOwner"], again["tables"][0]["undecided"]) == ([], 2)


def test_each_users_copy_is_compared_with_the_rows_of_that_user(start, tmp_path):
    old = site(start, tmp_path, "old", OLD)
    users = {"ana": "sid:1", "bob": "sid:2"}
    for name, user in users.items():
        for number in range(2):
            written(client(old, OLD, user), "POST", "", {"id": f"{name}{number}", "text": name})

    def copied(name, *whose, expect=0):
        fields = tmp_path / f"{name}.txt"
        write_file(fields, f"X-ZUMO-AUTH: {token(users[name], iss=OLD)}\n", 0o600)
        return moved("copy", "--from", old.url, "--table", "todos", "--header-file", fields,
                     "--work", tmp_path / f"work-{name}", "--data", tmp_path / "new", *whose, expect=expect)

    def whose(name):
        return ["--owner", f"aad:{name}", "--owned-table", "todos"]

    same = [{"table": "todos", "there": 2, "here": 2, "setAside": 0, "differences": []}]
    wrong = copied("ana", *whose("ana"), expect=4)
    assert wrong["otherOwners"] == [{"table": "todos", "rows": 2, "example": '"sid:1"'}]
    # The other backend answers, so a second copy mends it.
    for name in ("ana", "bob", "ana"):
        done = copied(name, *whose(name), "--owner-was", users[name])
        assert (done["tables"], done["otherOwners"]) == (same, []), name
    refused = run_site("copy", "--from", old.url, "--table", "lists", *whose("ana"), expect=2)
    assert "--owned-table names todos" in refused.stderr
    new = site(start, tmp_path, "new", NEW)
    for name in users:
        assert columns(rows(client(new, NEW, f"aad:{name}"), "todos")) == {
            f"{name}{number}": {"id": f"{name}{number}", "text": name, "userId": f"aad:{name}", "deleted": False}
            for number in range(2)}
