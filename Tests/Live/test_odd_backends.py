"""Backends whose answers have a long head, or columns with the names of another generation's system."""

import json

import pytest
import requests
from hostile import HTTPBackend

SYSTEM = {"id", "createdAt", "updatedAt", "version", "deleted"}
GENERATIONS = {
    1: {"X-ZUMO-APPLICATION": "key"},
    2: {"ZUMO-API-VERSION": "2.0.0"},
    3: {"ZUMO-API-VERSION": "3.0.0"},
}


def once(pairs):
    """A JSON object as a dictionary; a name that comes twice is refused."""
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), names
    return dict(pairs)


def ask(generation, server, method, path="", body=None):
    """A request of a client of a generation; returns the JSON of its answer."""
    answer = requests.request(
        method, f"{server.url}/tables/todoitem{path}", headers=GENERATIONS[generation], json=body, timeout=20
    )
    assert answer.status_code in (200, 201), answer.text
    return json.loads(answer.text, object_pairs_hook=once)


def users(row):
    """A row's columns without those of the system."""
    return {name: value for name, value in row.items() if name not in SYSTEM}


def rows(server):
    """The user's columns of every row, by id."""
    return {row["id"]: users(row) for row in server.all()}


def test_a_long_head_of_an_answer_stops_no_sync(start):
    """No client gets the answers of syncing, so their heads may be longer than those that are passed through."""
    backend = start.backend()
    for id in ("a", "b"):
        backend.insert({"id": id, "text": id})

    def behave(handler, body):
        sent = ("ZUMO-API-VERSION", "Content-Type", "If-Match")
        answer = requests.request(
            handler.command, backend.url + handler.path, data=body, timeout=20,
            headers={name: handler.headers[name] for name in sent if name in handler.headers})
        kept = ("Content-Type", "ETag", "Link")
        fields = {name: answer.headers[name] for name in kept if name in answer.headers}
        long = {f"X-Long-{number}": "a" * 1000 for number in range(60)}
        handler.answer(answer.status_code, answer.content, {**fields, **long})

    middle = HTTPBackend(behave)
    proxy = start.proxy(middle.url, "--sync", "manual", "--table", "todoitem")
    assert proxy.sync()["state"] == "complete"
    proxy.insert({"id": "c", "text": "C"})
    proxy.update("a", {"text": "A1"})
    backend.update("b", {"text": "B1"})
    run = proxy.sync()
    assert (run["state"], run["push"]["applied"]) == ("complete", 2)
    assert rows(proxy) == rows(backend) == {"a": {"text": "A1"}, "b": {"text": "B1"}, "c": {"text": "C"}}
    middle.shutdown()


@pytest.fixture(params=[1, 3])
def own_columns(request, start):
    """A backend whose table has columns of its own with the names of system columns of another generation; a proxy
    that has copied it; the generation whose clients see these columns, the other one, and the row without its id."""
    owner, other = request.param, {1: 3, 3: 2}[request.param]
    backend = start.backend("--flavour", str(owner), "--table", "todoitem:soft")
    row = {
        1: {"text": "t", "deleted": True, "version": "7.1", "updatedAt": "yesterday"},
        3: {"text": "t", "createdAt": "1999-01-01T00:00:00.000Z"},
    }[owner]
    ask(owner, backend, "POST", body={"id": "x", **row})
    proxy = start.proxy(backend.url, "--sync", "manual", "--backend-generation", str(owner))
    ask(owner, proxy, "GET")
    assert proxy.sync()["state"] == "complete"
    return backend, proxy, owner, other, row


def assert_row(own_columns, expected):
    """The row is the expected one on both sides."""
    backend, proxy, owner, _, row = own_columns
    for server in (backend, proxy):
        found = ask(owner, server, "GET", "/x")
        assert {name: found[name] for name in found if name in expected or name not in SYSTEM} == expected


def another_proxy(own_columns, start, backend):
    """A proxy with a store of its own that has copied a backend of the same generation."""
    _, _, owner, _, _ = own_columns
    proxy = start.proxy(backend.url, "--sync", "manual", "--backend-generation", str(owner), folder="new")
    ask(owner, proxy, "GET")
    assert proxy.sync()["state"] == "complete"
    return proxy


def test_an_exported_row_keeps_such_columns_in_another_store(own_columns, start, tmp_path):
    _, proxy, owner, other, row = own_columns
    file = tmp_path / "all.jsonl"
    assert proxy.command("export", "--output", file).returncode == 0
    lines = [json.loads(line, object_pairs_hook=once) for line in file.read_text().splitlines()]
    (line,) = [line for line in lines if line["type"] == "item"]
    assert users(line["item"]) == {"text": "t"}
    assert line["ownColumns"] == {name: row[name] for name in row if name != "text"}
    empty = start.backend("--flavour", str(owner), "--table", "todoitem:soft", folder="empty")
    new = another_proxy(own_columns, start, empty)
    assert new.command("import", file, "--rows").returncode == 0
    assert new.sync()["state"] == "complete"
    assert_row((empty, new, owner, other, row), row)


def test_an_exported_change_keeps_such_columns_in_another_store(own_columns, start, tmp_path):
    backend, proxy, owner, other, row = own_columns
    name = list(row)[-1]
    ask(owner, proxy, "PATCH", "/x", {name: "MINE"})
    file = tmp_path / "all.jsonl"
    assert proxy.command("export", "--output", file).returncode == 0
    new = another_proxy(own_columns, start, backend)
    assert new.command("import", file).returncode == 0
    assert new.sync()["state"] == "complete"
    assert_row((backend, new, owner, other, row), {**row, name: "MINE"})
