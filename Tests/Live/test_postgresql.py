"""`understudy-site` on PostgreSQL: what it says when it cannot start, and nodes that share a database."""

import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from programs import SITE, ZUMO, Node, free_port, wait_until


def refused(url):
    return subprocess.run([SITE, "--listen", f"127.0.0.1:{free_port()}", "--database", url],
                          capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("url, words", [
    ("mysql://db/x", "it does not begin with postgresql://"),
    ("postgresql://db/x?colour=red", "colour"),
    ("postgresql://db/x?sslmode=often", "sslmode"),
    # libpq quotes what it cannot read.
    ("postgresql://u:s3cret%zz@127.0.0.1:1/x", "percent-encoded token"),
    ("postgresql://u:s3cret@[::1/x", "IPv6"),
    ("postgresql://u:s3cret/x@127.0.0.1/y", "a / in a password is written %2F"),
])
def test_an_address_that_cannot_be_read_is_a_sentence_and_exit_code_2(binary, url, words):
    done = refused(url)
    assert done.returncode == 2, done
    assert words in done.stderr and done.stderr.count("\n") <= 2, done.stderr
    assert "s3cret" not in done.stdout + done.stderr


def test_a_newer_schema_is_refused(binary, postgresql, tmp_path):
    Node(tmp_path, ["--database", postgresql.url]).start().stop()
    postgresql.sql("INSERT INTO understudy.schema_version VALUES (99)")
    done = refused(postgresql.url)
    assert done.returncode == 2 and "version 99" in done.stderr, done


def test_a_node_that_starts_waits_until_a_server_takes_writes(start, postgresql):
    postgresql.stop()
    url = postgresql.url.replace("user=postgres", "user=postgres&password=s3cret")
    port = free_port()
    program = start.program("--listen", f"127.0.0.1:{port}", "--database", url, binary=SITE)
    wait_until(lambda: program.alive() and "node waits for its database" in program.output, what="the report")
    assert "s3cret" not in program.output
    postgresql.start()
    address = f"http://127.0.0.1:{port}/tables/todoitem"
    wait_until(lambda: program.alive() and "listens at" in program.output, what="the start")
    assert requests.post(address, json={"id": "a"}, headers=ZUMO, timeout=30).status_code == 201
    # It said so once, however often it asked.
    assert program.output.count("node waits") == 1
    program.stop()


def test_a_host_that_accepts_and_closes_is_passed_over(start, postgresql):
    """As a relay before a server that is dead."""
    with socket.create_server(("127.0.0.1", 0)) as closing:
        accepted = []

        def close_all():
            while True:
                try:
                    connection, _ = closing.accept()
                except OSError:
                    return
                accepted.append(1)
                connection.close()

        threading.Thread(target=close_all, daemon=True).start()
        port = closing.getsockname()[1]
        url = postgresql.url.replace("host=", "host=127.0.0.1,").replace("port=", f"port={port},")
        node = start.node("--database", url)
        node.insert({"id": "a"})
        assert [row["id"] for row in node.all()] == ["a"] and accepted
        node.stop()


def test_nodes_share_rows_and_start_at_once(start, postgresql):
    with ThreadPoolExecutor(3) as threads:
        nodes = list(threads.map(
            lambda place: start.node("--database", postgresql.url, folder=f"node{place}"), range(3)))
    one, two, three = nodes
    item = one.insert({"id": "a", "text": "eggs", "price": 1.5})
    answer = two.request("GET", "/tables/todoitem/a")
    assert answer.json() == item
    stale = three.request("PATCH", "/tables/todoitem/a", json={"text": "old"}, headers={"If-Match": '"MA=="'})
    assert stale.status_code == 412
    two.update("a", {"text": "milk"}, version=item["version"])
    assert one.list(**{"$filter": "text eq 'milk'"})[0]["id"] == "a"
    for node in nodes:
        node.stop()


def test_a_node_outlives_its_database(start, postgresql):
    node = start.node("--database", postgresql.url)
    node.insert({"id": "a"})
    postgresql.stop()
    answer = requests.get(node.url + "/tables/todoitem/a", headers=ZUMO, timeout=30)
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "1", answer.text
    assert str(postgresql.folder) not in answer.text
    postgresql.start()
    wait_until(lambda: node.request("GET", "/tables/todoitem/a").status_code == 200, what="the node's answer")
    node.insert({"id": "b"})
    assert sorted(row["id"] for row in node.all()) == ["a", "b"]
    node.stop()


def test_lists_that_take_long_delay_nothing_else(start, postgresql):
    node = start.node("--database", postgresql.url)
    node.insert({"id": "a", "rank": 1})
    postgresql.sql("""
        INSERT INTO understudy.items (table_key, id, columns, content, moments, created_at, created_ticks, stamp,
          stamp_ticks, version, deleted)
        SELECT table_key, id || n, columns, content, moments, created_at, created_ticks, stamp, stamp_ticks,
          version, deleted
        FROM understudy.items, generate_series(1, 200000) AS n""")

    def listed(number):
        # PostgreSQL has an index for no such filter, and every row is looked at.
        return node.request("GET", f"/tables/todoitem?$filter=rank mul 2 eq {99_999 + number}").status_code

    with ThreadPoolExecutor(12) as threads:
        lists = [threads.submit(listed, number) for number in range(12)]
        slowest = 0.0
        rounds = 0
        while not all(one.done() for one in lists):
            for answer in (
                node.request("GET", "/tables/todoitem/a"),
                node.request("POST", "/tables/todoitem", json={"id": f"new-{rounds}"}),
                node.request("GET", "/-/readyz"),
            ):
                assert answer.status_code in (200, 201), answer.text
                slowest = max(slowest, answer.elapsed.total_seconds())
            rounds += 1
        # A list that took its time is refused, and one that waited too long is asked to come again.
        assert {one.result() for one in lists} <= {200, 400, 503}
    assert rounds > 3
    assert slowest < 3, slowest
