"""The policies of a table, set with --policy and by the operator API."""

import concurrent.futures
import time

import pytest
from programs import wait_until


def serve(start, words, *arguments):
    backend = start.backend("--faults")
    backend.insert({"id": "a", "text": "one"})
    proxy = start.proxy(backend.url, "--policy", f"todoitem={words}", *arguments)
    assert proxy.sync()["state"] == "complete"
    return backend, proxy


def test_revalidate_answers_at_once_and_then_pulls(start):
    backend, proxy = serve(start, "revalidate")
    backend.update("a", {"text": "two"})
    assert proxy.get("a").json()["text"] == "one"
    # No sync is due for minutes, so the read itself brought the new row.
    wait_until(lambda: rows(proxy) == ["two"], 4, "the backend's row")


def rows(proxy):
    """The texts, without a client's read, which would refresh the table."""
    items = proxy.operator("GET", "/tables/todoitem/items")["items"]
    return [row["item"]["text"] for row in items]


def test_local_does_not_ask_the_backend(start):
    backend, proxy = serve(start, "local")
    backend.update("a", {"text": "two"})
    before = backend.request("GET", "/-/effects").json()["requests"].get("GET", 0)
    for _ in range(5):
        assert proxy.get("a").json()["text"] == "one"
        assert proxy.list()[0]["text"] == "one"
    assert backend.request("GET", "/-/effects").json()["requests"].get("GET", 0) - before <= 1


def test_remote_first_shows_the_backends_row_and_falls_back_to_the_store(start):
    backend, proxy = serve(start, "remote-first")
    backend.update("a", {"text": "two"})
    assert proxy.get("a").json()["text"] == "two"
    backend.update("a", {"text": "three"})
    assert [row["text"] for row in proxy.list()] == ["three"]
    backend.stop()
    assert [row["text"] for row in proxy.list()] == ["three"]
    answer = proxy.get("a")
    assert answer.status_code == 200
    assert answer.headers["Understudy-Backend"] == "offline"


def test_write_through_answers_with_the_backends_row(start):
    backend, proxy = serve(start, "write-through")
    made = proxy.request("POST", "/tables/todoitem", json={"id": "b", "text": "mine"})
    assert made.status_code == 201
    assert made.headers["Understudy-State"] == "synced"
    # The version is the store's own; the backend's version is never shown.
    assert made.json()["version"] == proxy.get("b").json()["version"]
    changed = proxy.request("PATCH", "/tables/todoitem/b", json={"text": "changed"})
    assert (changed.status_code, changed.headers["Understudy-State"]) == (200, "synced")
    assert backend.get("b").json()["text"] == "changed"
    assert proxy.request("DELETE", "/tables/todoitem/b").status_code == 204
    assert backend.get("b").status_code == 404


def test_write_through_answers_a_conflict(start):
    backend, proxy = serve(start, "write-through")
    backend.update("a", {"text": "theirs"})
    answer = proxy.request("PATCH", "/tables/todoitem/a", json={"text": "mine"})
    assert answer.status_code == 412
    assert answer.json()["text"] == "theirs"
    # The client got the refusal, so the write is not kept. The client goes on from the backend's item.
    assert proxy.get("a").json()["text"] == "theirs"
    assert not any(proxy.status()["queue"].values())
    again = proxy.update("a", {"text": "merged"}, version=answer.json()["version"])
    assert (again["text"], backend.get("a").json()["text"]) == ("merged", "merged")
    backend.insert({"id": "c", "text": "theirs"})
    taken = proxy.request("POST", "/tables/todoitem", json={"id": "c", "text": "mine"})
    assert taken.status_code == 409
    assert taken.json()["text"] == "theirs"
    assert proxy.get("c").json()["text"] == "theirs"


def test_write_through_answers_the_backends_refusal(start):
    backend, proxy = serve(start, "write-through")
    backend.faults({"kind": "status", "status": 403, "methods": ["POST"]})
    refused, direct = (
        one.request("POST", "/tables/todoitem", json={"id": "d", "text": "mine"}) for one in (proxy, backend))
    assert (refused.status_code, refused.content) == (direct.status_code, direct.content)
    assert refused.status_code == 403 and refused.headers["Content-Type"] == direct.headers["Content-Type"]
    # An error acknowledges nothing: only the history keeps the write.
    assert not any(proxy.status()["queue"].values())
    assert proxy.get("d").status_code == 404
    ledger = proxy.status()["ledger"]
    assert (ledger["accepted"], ledger["discarded"]) == (1, 1)
    assert any("refused" in entry["summary"] for entry in proxy.operator("GET", "/history")["items"])
    backend.faults()
    made = proxy.request("POST", "/tables/todoitem", json={"id": "d", "text": "mine"})
    assert (made.status_code, made.headers["Understudy-State"]) == (201, "synced")


def test_a_refused_write_that_contains_an_acknowledged_one_stays(start):
    backend, proxy = serve(start, "write-through")
    backend.stop()
    assert proxy.request("POST", "/tables/todoitem", json={"id": "e", "text": "1"}).status_code == 201
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    backend.start()
    backend.faults({"kind": "status", "status": 403, "methods": ["POST"]})
    proxy.operator("POST", "/mode", json={"mode": "online"})
    proxy.request("PATCH", "/tables/todoitem/e", json={"text": "2"})
    wait_until(lambda: proxy.status()["queue"]["quarantined"] == 1, 30, "the refusal")
    assert proxy.get("e").json()["text"] in ("1", "2")


def decided_offline(backend, proxy, write, meanwhile):
    """A write that is acknowledged offline and waits for a person once the backend is asked."""
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    assert write().status_code in (200, 204)
    meanwhile()
    proxy.operator("POST", "/mode", json={"mode": "online"})
    proxy.operator("POST", "/push?wait=60")
    waiting = proxy.operator("GET", "/operations")["items"]
    assert [one["state"] for one in waiting] in (["conflict"], ["quarantined"])
    return waiting


def test_a_repeated_delete_is_told_the_conflict_and_leaves_the_acknowledged_one(start):
    backend, proxy = serve(start, "write-through")
    waiting = decided_offline(
        backend, proxy, lambda: proxy.request("DELETE", "/tables/todoitem/a"),
        lambda: backend.update("a", {"text": "theirs"}))
    assert [(one["kind"], one["state"]) for one in waiting] == [("delete", "conflict")]
    again = proxy.request("DELETE", "/tables/todoitem/a")
    assert (again.status_code, again.json()["text"]) == (412, "theirs")
    assert "Understudy-State" not in again.headers
    kept = proxy.operator("GET", "/operations")["items"]
    assert [one["id"] for one in kept] == [waiting[0]["id"]]
    assert proxy.operator("GET", "/conflicts")["total"] == 1
    assert backend.get("a").json()["text"] == "theirs"


def test_an_undelete_without_effect_is_told_the_refusal_and_leaves_the_acknowledged_change(start):
    backend, proxy = serve(start, "write-through")
    waiting = decided_offline(
        backend, proxy,
        lambda: proxy.request("PATCH", "/tables/todoitem/a", json={"text": "mine"}),
        lambda: backend.faults({"kind": "status", "status": 403, "methods": ["PATCH"]}))
    assert [one["state"] for one in waiting] == ["quarantined"]
    again = proxy.request("POST", "/tables/todoitem/a")
    assert (again.status_code, "Understudy-State" in again.headers) == (403, False)
    kept = proxy.operator("GET", "/operations")["items"]
    assert [one["id"] for one in kept] == [waiting[0]["id"]]
    assert proxy.get("a").json()["text"] == "mine"


def test_a_repeated_write_of_a_refused_one_is_not_acknowledged(start):
    # No sync of its own pushes.
    backend, proxy = serve(start, "write-through", "--sync", "manual")
    backend.faults(
        {"kind": "latency", "milliseconds": 1000, "methods": ["PATCH"]},
        {"kind": "status", "status": 403, "methods": ["PATCH"]})

    def write():
        return proxy.request("PATCH", "/tables/todoitem/a", json={"text": "mine"})

    def is_sent():
        return [one["state"] for one in proxy.operator("GET", "/operations")["items"]] == ["sending"]

    with concurrent.futures.ThreadPoolExecutor(1) as another:
        first = another.submit(write)
        wait_until(lambda: first.done() or is_sent(), what="the request to the backend")
        second = write()
    # If the first one was withdrawn before the second one was judged, the answer is the backend's row.
    assert (first.result().status_code, second.status_code) in ((403, 403), (403, 412))
    for answer in (first.result(), second):
        assert "Understudy-State" not in answer.headers
    assert not any(proxy.status()["queue"].values())
    assert proxy.get("a").json()["text"] == "one"


def test_write_through_answers_a_conflict_that_the_policy_server_decides(start):
    # No sync of its own brings the backend's rows first.
    backend, proxy = serve(start, "write-through+server", "--sync", "manual")
    backend.insert({"id": "b", "text": "one"})
    assert proxy.sync()["state"] == "complete"
    for id in ("a", "b"):
        backend.update(id, {"text": "theirs"})
    backend.insert({"id": "n", "text": "theirs"})
    changed = proxy.request("PATCH", "/tables/todoitem/a", json={"text": "mine"})
    removed = proxy.request("DELETE", "/tables/todoitem/b")
    taken = proxy.request("POST", "/tables/todoitem", json={"id": "n", "text": "mine"})
    answers = (changed, removed, taken)
    assert [one.status_code for one in answers] == [412, 412, 409]
    assert [one.json()["text"] for one in answers] == ["theirs"] * 3
    assert not any("Understudy-State" in one.headers for one in answers)
    for id in ("a", "b", "n"):
        assert proxy.get(id).json()["text"] == backend.get(id).json()["text"] == "theirs"
    assert not any(proxy.status()["queue"].values())
    # The client goes on from the backend's item.
    again = proxy.update("a", {"text": "merged"}, version=changed.json()["version"])
    assert (again["text"], backend.get("a").json()["text"]) == ("merged", "merged")


def test_write_through_without_the_backend_is_as_local(start):
    backend, proxy = serve(start, "write-through")
    backend.stop()
    began = time.monotonic()
    made = proxy.request("POST", "/tables/todoitem", json={"id": "e", "text": "mine"})
    assert made.status_code == 201
    assert made.headers["Understudy-State"] == "pending"
    assert time.monotonic() - began < 6
    backend.start()
    wait_until(lambda: backend.get("e").status_code == 200, 30, "the todo upstream")


@pytest.mark.parametrize("words, winner", [("client", "mine"), ("server", "theirs")])
def test_the_conflict_policy_decides(start, words, winner):
    backend, proxy = serve(start, words, "--sync", "manual")
    proxy.update("a", {"text": "mine"})
    backend.update("a", {"text": "theirs"})
    assert proxy.sync()["state"] == "complete"
    assert backend.get("a").json()["text"] == winner
    assert proxy.get("a").json()["text"] == winner


def test_the_operator_changes_policies_while_it_runs(start):
    backend, proxy = serve(start, "local")
    table = proxy.operator("PATCH", "/tables/todoitem", json={"readPolicy": "remote-first"})
    assert (table["readPolicy"], table["writePolicy"]) == ("remote-first", "local")
    backend.update("a", {"text": "two"})
    assert proxy.get("a").json()["text"] == "two"
    problem = proxy.operator(
        "PATCH", "/tables/todoitem", expect=400, json={"readPolicy": "sometimes"})
    assert "remote-first" in problem["detail"]
    proxy.operator("PATCH", "/tables/todoitem", expect=400, json={"unconditionalPolicy": "server"})
    proxy.stop()
    proxy.arguments = []
    proxy.start()
    (table,) = proxy.operator("GET", "/tables")["items"]
    assert table["readPolicy"] == "remote-first"


def test_an_invalid_policy_is_reported_at_the_start(start):
    program = start.program("serve", "--backend", "http://127.0.0.1:9", "--policy", "todoitem=fast")
    assert program.process.wait(10) == 2
    assert "revalidate" in program.output


def test_a_restore_brings_no_policy_back_whose_line_is_gone(start, tmp_path):
    proxy = start.proxy(start.backend().url, "--sync", "manual")

    def policy():
        (table,) = proxy.operator("GET", "/tables")["items"]
        return table["conflictPolicy"]

    proxy.stop()
    proxy.start("--policy", "todoitem=server")
    assert policy() == "server"
    assert proxy.command("backup", tmp_path / "copy").returncode == 0
    proxy.stop()
    proxy.start()
    assert policy() == "ask"
    proxy.stop()
    assert proxy.command("restore", tmp_path / "copy", "--yes").returncode == 0
    proxy.start()
    assert policy() == "ask"
