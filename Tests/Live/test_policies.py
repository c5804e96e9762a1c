"""The policies of a table, set with --policy and by the operator API."""

import pytest


def serve(start, words, *arguments):
    backend = start.backend("--faults")
    backend.insert({"id": "a", "text": "one"})
    proxy = start.proxy(backend.url, "--policy", f"todoitem={words}", *arguments)
    assert proxy.sync()["state"] == "complete"
    return backend, proxy


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


@pytest.fixture(scope="module")
def write_through(start_shared):
    return serve(start_shared, "write-through")


def test_write_through_answers_with_the_backends_row(write_through):
    backend, proxy = write_through
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


def test_write_through_answers_a_conflict(write_through):
    backend, proxy = write_through
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


def test_write_through_answers_the_backends_refusal(write_through):
    backend, proxy = write_through
    before = proxy.status()["ledger"]
    backend.faults({"kind": "status", "status": 403, "methods": ["POST"]})
    refused, direct = (
        one.request("POST", "/tables/todoitem", json={"id": "d", "text": "mine"}) for one in (proxy, backend))
    assert (refused.status_code, refused.content) == (direct.status_code, direct.content)
    assert refused.status_code == 403 and refused.headers["Content-Type"] == direct.headers["Content-Type"]
    # An error acknowledges nothing: only the history keeps the write.
    assert not any(proxy.status()["queue"].values())
    assert proxy.get("d").status_code == 404
    ledger = proxy.status()["ledger"]
    assert [ledger[name] - before[name] for name in ("accepted", "discarded")] == [1, 1]
    assert any("refused" in entry["summary"] for entry in proxy.operator("GET", "/history")["items"])
    backend.faults()
    made = proxy.request("POST", "/tables/todoitem", json={"id": "d", "text": "mine"})
    assert (made.status_code, made.headers["Understudy-State"]) == (201, "synced")


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
