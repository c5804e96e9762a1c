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


def test_the_first_insert_into_an_empty_table_of_numbers_gets_a_number(start, server):
    proxy = start.proxy(server.url, "--policy", "numbers=local")
    rows = [proxy.insert({"body": body}, "numbers") for body in ("x", "y")]
    assert [(row["id"], row["body"]) for row in rows] == [(1, "x"), (2, "y")]
