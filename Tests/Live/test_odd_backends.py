"""Backends whose answers mislead: another row, an echo, columns with the names of another generation's system."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

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


class OneOddAnswer:
    """Passes requests on to a backend. The first write after `odd` is set does not reach it: `odd` makes the answer
    from what was sent, as status, row and header fields. The first write after `part` is set reaches it: `part` makes
    another row of the one in its answer, which has no ETag then. The answers that are passed on get the fields of
    `added`."""

    def __init__(self, backend):
        self.backend, self.odd, self.part, self.added = backend, None, None, {}
        self.server = HTTPBackend(self.behave)
        self.url = self.server.url

    def behave(self, handler, body):
        odd = self.odd
        if odd and handler.command != "GET":
            self.odd = None
            status, row, fields = odd(json.loads(body))
            handler.answer(status, json.dumps(row).encode(), fields)
            return
        sent = ("ZUMO-API-VERSION", "Content-Type", "If-Match")
        answer = requests.request(
            handler.command,
            self.backend.url + handler.path,
            headers={name: handler.headers[name] for name in sent if name in handler.headers},
            data=body,
            timeout=20,
        )
        kept = ("Content-Type", "ETag", "Link")
        fields = {name: answer.headers[name] for name in kept if name in answer.headers}
        content, part = answer.content, self.part
        if part and handler.command != "GET":
            self.part = None
            content = json.dumps(part(answer.json())).encode()
            fields.pop("ETag", None)
        handler.answer(answer.status_code, content, {**fields, **self.added})


@pytest.fixture
def world(start):
    backend = start.backend()
    backend.insert({"id": "a", "text": "A", "note": "An"})
    backend.insert({"id": "b", "text": "B", "note": "Bn"})
    middle = OneOddAnswer(backend)
    proxy = start.proxy(middle.url, "--sync", "manual", "--table", "todoitem")
    assert proxy.sync()["state"] == "complete"
    assert rows(proxy) == rows(backend) == {"a": {"text": "A", "note": "An"}, "b": {"text": "B", "note": "Bn"}}
    yield backend, middle, proxy
    middle.server.shutdown()


def test_a_long_head_of_an_answer_stops_no_sync(world):
    """No client gets the answers of syncing, so their heads may be longer than those that are passed through."""
    backend, middle, proxy = world
    middle.added = {f"X-Long-{number}": "a" * 1000 for number in range(60)}
    proxy.insert({"id": "c", "text": "C"})
    proxy.update("a", {"text": "A1"})
    backend.update("b", {"text": "B1"})
    run = proxy.sync()
    assert (run["state"], run["push"]["applied"]) == ("complete", 2)
    expected = {"a": {"text": "A1", "note": "An"}, "b": {"text": "B1", "note": "Bn"}, "c": {"text": "C"}}
    assert rows(backend) == expected
    assert rows(proxy) == expected


@pytest.mark.parametrize("given", [{"id": "c"}, {}], ids=["the client's id", "a generated id"])
def test_an_insert_answered_with_another_row_is_no_alias_of_it(world, given):
    backend, middle, proxy = world
    there, here = backend.get("b").json(), proxy.get("b").json()
    id = proxy.insert({**given, "text": "C"})["id"]
    middle.odd = lambda _: (201, there, {})
    proxy.sync()
    (refused,) = proxy.operator("GET", "/operations")["items"]
    assert (refused["state"], refused["itemId"]) == ("quarantined", id)
    proxy.update(id, {"text": "C edited"})
    proxy.operator("POST", "/operations/retry", json={"all": True})
    assert proxy.sync()["state"] == "complete"
    expected = {"a": {"text": "A", "note": "An"}, "b": {"text": "B", "note": "Bn"}, id: {"text": "C edited"}}
    assert rows(backend) == expected
    assert rows(proxy) == expected
    assert backend.get("b").json() == there
    assert proxy.get("b").json() == here


@pytest.mark.parametrize("status", [409, 412])
@pytest.mark.parametrize("place", ["body", "ETag"])
@pytest.mark.parametrize("dropped", [{}, {"note": "mine too"}], ids=["whole", "without a column"])
def test_an_echo_beside_the_present_version_is_not_the_servers_row(world, status, place, dropped):
    backend, middle, proxy = world
    proxy.update("a", {"text": "mine", **dropped})
    there = backend.update("a", {"text": "THEIRS"})

    def echo(sent):
        sent = {name: value for name, value in sent.items() if name not in dropped}
        if place == "body":
            return status, {**there, **sent}, {}
        return status, {"id": "a", **sent}, {"ETag": f'"{there["version"]}"'}

    middle.odd = echo
    run = proxy.sync()
    assert (run["push"]["applied"], run["push"]["conflicts"]) == (0, 1)
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    assert conflict["base"] == {"text": "A", "note": "An"}
    assert conflict["mine"] == {"text": "mine", "note": "An", **dropped}
    assert conflict["server"] == {"text": "THEIRS", "note": "An"}
    assert backend.get("a").json() == there
    choice = {"revision": conflict["revision"], "choice": "mine"}
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=choice)
    assert proxy.sync()["state"] == "complete"
    expected = {"a": {"text": "mine", "note": "An", **dropped}, "b": {"text": "B", "note": "Bn"}}
    assert rows(backend) == expected
    assert rows(proxy) == expected


@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_change_behind_an_answer_without_a_version_overwrites_nobody(world, change):
    backend, middle, proxy = world
    proxy.update("a", {"text": "A1"})

    def part(row):
        # Before the answer arrives, the client writes again, and so does another writer.
        if change == "update":
            proxy.update("a", {"text": "A2"})
        else:
            proxy.delete("a")
        backend.update("a", {"text": "THEIRS"})
        return {"id": row["id"], "text": row["text"]}

    middle.part = part
    proxy.sync()
    proxy.sync()
    assert middle.part is None
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    assert conflict["base"] == {"text": "A1", "note": "An"}
    assert conflict["server"] == {"text": "THEIRS", "note": "An"}
    expected = {"a": {"text": "THEIRS", "note": "An"}, "b": {"text": "B", "note": "Bn"}}
    assert rows(backend) == expected
    choice = {"revision": conflict["revision"], "choice": "server"}
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=choice)
    assert rows(proxy) == expected


def test_a_part_of_the_row_in_the_conflict_of_a_delete_is_not_the_servers_row(world):
    backend, middle, proxy = world
    proxy.delete("a")
    backend.update("a", {"text": "THEIRS"})
    middle.part = lambda row: {"id": row["id"], "version": row["version"]}
    proxy.sync()
    assert middle.part is None
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    assert conflict["server"] == {"text": "THEIRS", "note": "An"}
    choice = {"revision": conflict["revision"], "choice": "server"}
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=choice)
    expected = {"a": {"text": "THEIRS", "note": "An"}, "b": {"text": "B", "note": "Bn"}}
    assert rows(backend) == rows(proxy) == expected


def test_an_insert_sent_again_after_the_backend_gave_it_another_id_is_refused(world):
    backend, middle, proxy = world
    item = {"id": "mine", "text": "C", "note": "Cn"}
    proxy.insert(item)
    middle.odd = lambda sent: (201, backend.insert({name: sent[name] for name in ("text", "note")}), {})
    assert proxy.sync()["state"] == "complete"
    here = proxy.get("mine").json()
    again = proxy.request("POST", "/tables/todoitem", json=item)
    assert again.status_code == 409, again.text
    assert proxy.sync()["state"] == "complete"
    expected = {
        "a": {"text": "A", "note": "An"},
        "b": {"text": "B", "note": "Bn"},
        here["id"]: {"text": "C", "note": "Cn"},
    }
    assert here["id"] != "mine"
    assert rows(backend) == rows(proxy) == expected


def test_a_users_column_named_updated_at_is_no_sign_of_a_later_generation(start):
    backend = start.backend("--flavour", "1", "--table", "todoitem:soft")
    old = {"id": "old", "text": "t", "updatedAt": "2013-01-01"}
    ask(1, backend, "POST", body=old)
    proxy = start.proxy(backend.url, "--sync", "manual")
    assert ask(1, proxy, "GET") == [old]
    new = {"id": "new", "text": "mine", "updatedAt": "yesterday"}
    ask(1, proxy, "POST", body=new)
    run = proxy.sync()
    assert (run["state"], run["push"]["applied"]) == ("complete", 1)
    assert proxy.status()["backend"]["state"] == "online"
    for server in (backend, proxy):
        assert ask(1, server, "GET", "?$orderby=id") == [new, old]


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


@pytest.mark.parametrize("path", ["", "/x"])
@pytest.mark.parametrize("owner, other", [(1, 2), (1, 3), (3, 2)])
def test_the_first_answer_has_no_name_twice(start, owner, other, path):
    backend = start.backend("--flavour", str(owner), "--table", "todoitem:soft")
    own = {
        1: {"deleted": True, "version": "7.1", "updatedAt": "yesterday"},
        3: {"createdAt": "1999-01-01T00:00:00.000Z"},
    }[owner]
    ask(owner, backend, "POST", body={"id": "x", "text": "t", **own})
    proxy = start.proxy(backend.url, "--sync", "manual", "--backend-generation", str(owner))
    answer = ask(other, proxy, "GET", path)
    (row,) = answer["items"] if "items" in answer else answer if path == "" else [answer]
    assert users(row) == {"text": "t"}


def assert_row(own_columns, expected):
    """The row is the expected one on both sides."""
    backend, proxy, owner, _, row = own_columns
    for server in (backend, proxy):
        found = ask(owner, server, "GET", "/x")
        assert {name: found[name] for name in found if name in expected or name not in SYSTEM} == expected


def test_a_row_has_no_name_twice_and_a_replacement_keeps_the_columns_that_its_clients_generation_hides(own_columns):
    _, proxy, _, other, row = own_columns
    item = ask(other, proxy, "GET", "/x")
    item["text"] = "changed"
    ask(other, proxy, "PUT", "/x", item)
    assert proxy.sync()["state"] == "complete"
    assert_row(own_columns, {**row, "text": "changed"})


def test_an_edit_of_such_a_column_is_sent(own_columns):
    backend, proxy, owner, _, row = own_columns
    name = list(row)[-1]
    ask(owner, proxy, "PATCH", "/x", {name: "MINE"})
    (operation,) = proxy.operator("GET", "/operations")["items"]
    # A row of the dashboard has system columns too; an edit leaves them out where the item has none of its own.
    columns = {name: "EDITED", "id": "y"}
    body = {"revision": operation["revision"], "columns": columns}
    proxy.operator("PATCH", f"/operations/{operation['id']}", json=body)
    assert ask(owner, proxy, "GET", "/x")[name] == "EDITED"
    ask(owner, backend, "PATCH", "/x", {name: "THEIRS"})
    proxy.sync()
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    sides = [conflict[side][name] for side in ("base", "mine", "server")]
    assert sides == [row[name], "EDITED", "THEIRS"]
    choice = {"revision": conflict["revision"], "choice": "edited", "item": {name: "DECIDED"}}
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=choice)
    assert proxy.sync()["state"] == "complete"
    assert_row(own_columns, {**row, name: "DECIDED"})


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


class LinkedRows:
    """A table in the form of Azure Table Storage: 170 rows in pages of 50, which only the links of the pages lead
    through. `$orderby`, `$skip` and counting are refused."""

    def __init__(self):
        stamp = "2024-01-01T00:00:00.000Z"
        self.rows = [{"id": f"i{number}", "text": "x", "updatedAt": stamp, "version": "v"} for number in range(100, 270)]
        self.seen = []
        self.server = HTTPBackend(self.behave)
        self.url = self.server.url

    def behave(self, handler, _):
        address = urlsplit(handler.path)
        self.seen.append(handler.path)
        pairs = dict(parse_qsl(address.query))
        if set(pairs) & {"$orderby", "$skip", "$inlinecount"}:
            handler.answer(400, b'{"message":"The query is not supported by the storage."}')
            return
        after = pairs.get("NextRowKey", "")
        since = re.search("updatedAt ge datetimeoffset'([^']+)'", pairs.get("$filter", ""))
        left = [row for row in self.rows if row["id"] > after and (not since or row["updatedAt"] >= since[1])]
        page = left[:50]
        fields = {}
        if len(left) > 50:
            link = f"{self.url}{address.path}?NextRowKey={page[-1]['id']}&__includeDeleted=true; rel=next"
            fields["Link"] = link
        handler.answer(200, json.dumps(page).encode(), fields)


def test_a_backend_that_refuses_orders_is_read_and_copied_by_its_links(start):
    backend = LinkedRows()
    proxy = start.proxy(backend.url, "--sync", "manual")
    expected = [row["id"] for row in backend.rows]
    # Before the copy a client is led through the backend's own pages.
    link, ids = f"{proxy.url}/tables/todoitem", []
    while link:
        answer = requests.get(link, headers=GENERATIONS[2], timeout=20)
        assert answer.status_code == 200, answer.text
        ids += [row["id"] for row in answer.json()]
        link = answer.headers.get("Link", "").removesuffix("; rel=next")
    assert ids == expected
    assert proxy.sync()["state"] == "complete"
    (table,) = proxy.operator("GET", "/status")["tables"]
    assert (table["items"], table["isComplete"], table["paging"]) == (170, True, "links")
    assert "refuses to sort" in table["warning"]
    assert sorted(row["id"] for row in proxy.all()) == expected
    # Nothing has changed since, which one request shows.
    backend.seen.clear()
    assert proxy.sync()["state"] == "complete"
    assert len([path for path in backend.seen if "updatedAt" in path]) == 1, backend.seen
    backend.rows[7].update(text="changed", updatedAt="2024-06-01T00:00:00.000Z", version="w")
    proxy.sync()
    assert proxy.get("i107").json()["text"] == "changed"
    backend.server.shutdown()
