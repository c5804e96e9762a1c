"""Copies are checked against the backend: what no pull shows is found and mended by the real programs."""

import sqlite3

import requests
from programs import wait_until


def here(proxy):
    rows = proxy.operator("GET", "/tables/todoitem/items")["items"]
    return {row["item"]["id"]: row["item"]["text"] for row in rows}


def alter(backend, *statements):
    """Changes the rows as another program does that knows no stamps."""
    (path,) = backend.folder.glob("*.sqlite")
    with sqlite3.connect(path, timeout=10) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def test_rows_that_go_and_come_without_a_stamp_are_found_while_the_proxy_is_idle(start):
    backend = start.backend()
    for n in range(5):
        backend.insert({"id": f"r{n}", "text": f"row {n}"})
    proxy = start.proxy(backend.url, "--table", "todoitem", "--check-copies", "2s")
    wait_until(lambda: len(here(proxy)) == 5, 20, "the first pull")
    backend.insert({"id": "late", "text": "committed late"})
    alter(
        backend,
        "UPDATE items SET stamp = stamp - 7200000, stamp_ticks = stamp_ticks - 72000000000 WHERE id = 'late'",
        "DELETE FROM items WHERE id IN ('r1', 'r2')",
    )
    wait_until(lambda: set(here(proxy)) == {"r0", "r3", "r4", "late"}, 30, "the check of the copy")
    (table,) = proxy.operator("GET", "/tables")["items"]
    assert "2 rows were no longer at the backend, removed at" in table["drift"]
    entries = proxy.operator("GET", "/history?kind=pulled")["items"]
    assert any("2 rows were no longer" in entry["summary"] for entry in entries)
    assert [e["before"]["text"] for e in entries if e["itemId"] == "r1"] == ["row 1"]
    assert "2 rows were no longer" in proxy.command("status").stdout
    metrics = requests.get(proxy.url + "/-/metrics", timeout=5).text
    (mended,) = [line for line in metrics.splitlines() if line.startswith("understudy_table_rows_mended{")]
    assert 'table="todoitem"' in mended and float(mended.split()[-1]) >= 2
    rows = proxy.request("GET", "/tables/todoitem", params={"__includeDeleted": "true"}).json()
    assert {row["id"] for row in rows if row["deleted"]} == {"r1", "r2"}


def test_off_checks_nothing_and_other_words_are_refused(start):
    backend = start.backend()
    backend.insert({"id": "r0", "text": "row"})
    proxy = start.proxy(backend.url, "--sync", "manual", "--check-copies", "off")
    assert proxy.insert({"id": "r1", "text": "row"})
    assert proxy.sync()["state"] == "complete"
    alter(backend, "DELETE FROM items WHERE id = 'r0'")
    assert proxy.sync()["state"] == "complete"
    assert set(here(proxy)) == {"r0", "r1"}
    wrong = proxy.command("serve", "--backend", backend.url, "--check-copies", "1w")
    assert wrong.returncode != 0 and "check-copies" in wrong.stderr and "30m" in wrong.stderr
