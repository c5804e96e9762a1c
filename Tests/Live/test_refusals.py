"""Refusals of a backend that are about no version, and rows without versions, over the real program."""

import pytest

SYSTEM = {"id", "createdAt", "updatedAt", "version", "deleted"}


def rows(server, table):
    """The user's columns of every row, by id."""
    found = server.request("GET", f"/tables/{table}").json()
    return {row["id"]: {name: value for name, value in row.items() if name not in SYSTEM} for row in found}


def writes(backend):
    """How many requests that write the backend got."""
    counts = backend.request("GET", "/-/effects").json()["requests"]
    return sum(counts.get(method, 0) for method in ("POST", "PUT", "PATCH", "DELETE"))


def test_unique_index_and_foreign_key_are_refusals_with_the_backends_sentence(start):
    tables = ["people:hard+unique=email", "orders:hard+references=person.people"]
    backend = start.backend("--faults", *[word for table in tables for word in ("--table", table)])
    for id in ("p1", "p2"):
        backend.insert({"id": id, "email": f"{id}@x"}, "people")
    backend.insert({"id": "o1", "person": "p1"}, "orders")
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "people", "--table", "orders")
    assert proxy.sync()["state"] == "complete"
    there = rows(backend, "people")
    before = writes(backend)
    proxy.insert({"id": "p3", "email": "p1@x"}, "people")
    proxy.insert({"id": "p4", "email": "p2@x"}, "people")
    assert proxy.request("PATCH", "/tables/people/p2", json={"email": "p1@x"}).status_code == 200
    assert proxy.request("DELETE", "/tables/people/p1").status_code < 300
    runs = [proxy.sync()["state"] for _ in range(3)]
    assert runs == ["completeWithErrors", "complete", "complete"]
    operations = proxy.operator("GET", "/operations")["items"]
    assert {(one["itemId"], one["state"]) for one in operations} == {
        (id, "quarantined") for id in ("p1", "p2", "p3", "p4")
    }
    for one in operations:
        assert one["reason"].startswith("The backend refused it with 409: "), one
        assert ("REFERENCE" if one["kind"] == "delete" else "UNIQUE") in one["reason"], one
    assert writes(backend) - before == 4
    assert proxy.operator("GET", "/conflicts")["items"] == []
    assert rows(backend, "people") == there
    groups = proxy.operator("GET", "/operations/groups")["items"]
    assert sorted(group["count"] for group in groups if group["state"] == "quarantined") == [1, 3]


@pytest.mark.parametrize("condition", [True, False], ids=["If-Match", "no condition"])
@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_row_without_a_version_is_not_overwritten_unseen(start, condition, method):
    backend = start.backend("--table", "notes:no-versions")
    for id in ("a", "b"):
        backend.insert({"id": id, "text": "1"}, "notes")
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "notes")
    assert proxy.sync()["state"] == "complete"
    (table,) = [one for one in proxy.operator("GET", "/tables")["items"] if one["name"] == "notes"]
    assert "no version" in table["warning"]
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    for id in ("a", "b"):
        row = proxy.request("GET", f"/tables/notes/{id}").json()
        fields = {"If-Match": f'"{row["version"]}"'} if condition else {}
        body = None if method == "DELETE" else {"text": "mine"}
        answer = proxy.request(method, f"/tables/notes/{id}", json=body, headers=fields)
        assert answer.status_code in (200, 204), answer.text
    backend.request("PATCH", "/tables/notes/a", json={"text": "theirs"})
    proxy.operator("POST", "/mode", json={"mode": "online"})
    for _ in range(2):
        proxy.sync()
    mine = {} if method == "DELETE" else {"b": {"text": "mine"}}
    assert rows(backend, "notes") == {"a": {"text": "theirs"}, **mine}
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    assert conflict["itemId"] == "a"
