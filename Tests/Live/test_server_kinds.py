"""What a client is told in the words of the server behind: one of Azure Mobile Apps for Node, or another one."""

import pytest
from node_server import NodeServer

LIMIT = {"error": "You cannot request more than 1000 records"}


@pytest.fixture
def server():
    server = NodeServer()
    yield server
    server.stop()


def test_a_node_server_is_remembered_while_it_is_away(start, server):
    for id in ("a", "b"):
        server.tables["notes"].rows[id] = row = {"id": id, "deleted": False, "body": id}
        server.learn(server.tables["notes"], row)
        server.touch(server.tables["notes"], row)
    proxy = start.proxy(server.url, "--sync", "manual", "--table", "notes")
    assert proxy.sync()["state"] == "complete"
    proxy.stop()
    server.stop()
    proxy.start()
    answer = proxy.request("GET", "/tables/notes?$top=1001")
    assert (answer.status_code, answer.json()) == (400, LIMIT)
    answer = proxy.request("DELETE", "/tables/notes/a")
    row = answer.json()
    assert answer.status_code == 200 and answer.headers["ETag"] == f'"{row["version"]}"'
    assert (row["id"], row["body"], row["deleted"]) == ("a", "a", True)
    assert [one["id"] for one in proxy.list("notes")] == ["b"]


def test_another_server_answers_with_a_page_and_without_the_row(start):
    backend = start.backend("--flavour", "2-dotnet")
    for id in ("a", "b"):
        backend.insert({"id": id})
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    assert proxy.sync()["state"] == "complete"
    assert [row["id"] for row in proxy.list(_top=1001)] == ["a", "b"]
    answer = proxy.request("DELETE", "/tables/todoitem/a")
    assert (answer.status_code, answer.content) == (204, b"") and "ETag" not in answer.headers


def test_the_first_insert_into_an_empty_table_of_numbers_gets_a_number(start, server):
    proxy = start.proxy(server.url, "--policy", "numbers=local")
    rows = [proxy.insert({"body": body}, "numbers") for body in ("x", "y")]
    assert [(row["id"], row["body"]) for row in rows] == [(1, "x"), (2, "y")]


def test_a_forwarded_list_is_the_clients_own(start, server):
    notes = server.tables["notes"]
    for number in range(60):
        notes.rows[f"n{number:02}"] = row = {"id": f"n{number:02}", "deleted": False}
        server.touch(notes, row)
    proxy = start.proxy(server.url, "--sync", "manual")

    def asked(query):
        del server.server.requests[:]
        rows = proxy.request("GET", f"/tables/notes?{query}").json()
        paths = [path for method, path, *_ in server.server.requests if "/notes" in path]
        return len(rows), [path.partition("?")[2] for path in paths if "top=1&" not in path + "&"]

    asked("$top=1")
    assert asked("$filter=id%20eq%20'n01'") == (1, ["$filter=id%20eq%20'n01'"])
    assert asked("$top=5") == (5, ["$top=5"])
    # More rows follow, and the next page may come from the store.
    assert asked("") == (50, ["", "$orderby=id"])
