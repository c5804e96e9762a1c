"""Seed 002 over bare HTTP: the same item is changed on both sides, and each decision is tried."""

import pytest


def make_conflict(start):
    backend = start.backend()
    backend.insert({"id": "eggs", "text": "Buy eggs", "complete": False})
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.insert({"text": "creates the table"})
    proxy.sync()
    proxy.update("eggs", {"text": "Buy eggs (6)"})
    backend.update("eggs", {"text": "Buy organic eggs"})
    run = proxy.sync()
    assert run["state"] == "completeWithErrors", run
    assert run["push"]["conflicts"] == 1
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    return backend, proxy, conflict


def test_a_conflict_keeps_base_mine_and_servers(start):
    _, proxy, conflict = make_conflict(start)
    detail = proxy.operator("GET", f"/conflicts/{conflict['id']}")
    assert detail["base"]["text"] == "Buy eggs"
    assert detail["mine"]["text"] == "Buy eggs (6)"
    assert detail["server"]["text"] == "Buy organic eggs"
    assert [field["name"] for field in detail["fields"]] == ["text"]
    assert proxy.get("eggs").headers["Understudy-State"] == "conflict"
    assert proxy.get("eggs").json()["text"] == "Buy eggs (6)"


@pytest.mark.parametrize(
    "choice, item, expected",
    [
        ("mine", None, "Buy eggs (6)"),
        ("server", None, "Buy organic eggs"),
        ("edited", {"text": "Buy organic eggs (6)"}, "Buy organic eggs (6)"),
    ],
)
def test_a_choice_reaches_both_sides(start, choice, item, expected):
    backend, proxy, conflict = make_conflict(start)
    body = {"revision": conflict["revision"], "choice": choice, **({"item": item} if item else {})}
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=body)
    assert proxy.sync()["state"] == "complete"
    assert backend.get("eggs").json()["text"] == expected
    assert proxy.get("eggs").json()["text"] == expected
    assert proxy.get("eggs").headers["Understudy-State"] == "synced"
    assert proxy.operator("GET", "/conflicts")["items"] == []


def test_an_open_conflict_blocks_no_other_item(start):
    backend, proxy, conflict = make_conflict(start)
    other = proxy.insert({"text": "not held back"})
    assert proxy.sync()["push"]["applied"] == 1
    assert backend.get(other["id"]).status_code == 200
    (still,) = proxy.operator("GET", "/conflicts")["items"]
    assert still["id"] == conflict["id"]
    assert backend.get("eggs").json()["text"] == "Buy organic eggs"


def test_a_change_of_the_servers_row_before_the_choice_arrives_opens_the_conflict_again(start):
    backend, proxy, conflict = make_conflict(start)
    proxy.operator(
        "POST",
        f"/conflicts/{conflict['id']}/resolve",
        json={"revision": conflict["revision"], "choice": "mine"},
    )
    backend.update("eggs", {"text": "Buy free-range eggs"})
    assert proxy.sync()["state"] == "completeWithErrors"
    (again,) = proxy.operator("GET", "/conflicts")["items"]
    detail = proxy.operator("GET", f"/conflicts/{again['id']}")
    assert detail["server"]["text"] == "Buy free-range eggs"
    assert detail["mine"]["text"] == "Buy eggs (6)"


def test_changes_to_different_fields_merge_without_asking(start):
    backend = start.backend()
    backend.insert({"id": "eggs", "text": "Buy eggs", "complete": False})
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    proxy.update("eggs", {"complete": True})
    backend.update("eggs", {"text": "Buy organic eggs"})
    run = proxy.sync()
    assert run["state"] == "complete", run
    for side in (backend, proxy):
        row = side.get("eggs").json()
        assert (row["text"], row["complete"]) == ("Buy organic eggs", True)


def test_a_choice_with_an_old_revision_is_refused_with_the_current_operation(start):
    _, proxy, conflict = make_conflict(start)
    proxy.update("eggs", {"text": "Buy eggs (12)"})
    problem = proxy.operator(
        "POST",
        f"/conflicts/{conflict['id']}/resolve",
        expect=409,
        json={"revision": conflict["revision"], "choice": "server"},
    )
    assert problem["code"] == "operation-changed"


def test_commands_find_conflicts_and_operations_by_what_they_are_about(start):
    _, proxy, conflict = make_conflict(start)
    found = lambda *words: proxy.command(*words).stdout
    for words in (["--table", "todoitem"], ["--text", "eggs (6)"], ["--column", "text"], ["--actor", "client"]):
        assert "eggs" in found("conflicts", "list", *words), words
        assert "eggs" in found("queue", "list", *words, "--status", "412", "--sort", "newest"), words
    for words in (["--table", "other"], ["--column", "complete"], ["--before", "2020-01-01T00:00:00Z"]):
        assert "No conflicts" in found("conflicts", "list", *words), words
        assert "eggs" not in found("queue", "list", *words), words
    refused = proxy.command("queue", "list", "--sort", "colour")
    assert refused.returncode != 0 and "sort" in refused.stderr, refused
    decided = proxy.command("conflicts", "resolve-all", "newest", "--column", "text", "--yes")
    assert decided.returncode == 0 and "1 operation decided" in decided.stdout, decided
    assert proxy.sync()["state"] == "complete"
    assert proxy.get("eggs").json()["text"] == "Buy organic eggs"
