"""No read has an effect: every GET and HEAD leaves the store unchanged."""

import json
import sqlite3

import requests
from programs import ROOT, ZUMO, dashboard_files

# A sample is taken each minute, with or without reads: a row, and the counters as they were then.
SAMPLES = "samples"
COUNTERS, AT_THE_SAMPLE = ("ledger", "failures"), "sampled"


def contents(proxy):
    """The contents of the stores and of the small files of the folder."""
    found = {}
    for path in sorted(proxy.folder.rglob("*")):
        if path.name == "store.sqlite":
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
                    if table == SAMPLES or table.startswith("sqlite_"):
                        continue
                    columns = [column[1] for column in database.execute(f'PRAGMA table_info("{table}")')]
                    if table in COUNTERS:
                        columns.remove(AT_THE_SAMPLE)
                    kept = ", ".join(f'"{name}"' for name in columns)
                    found[path, table] = sorted(map(repr, database.execute(f'SELECT {kept} FROM "{table}"')))
        elif path.is_file() and not path.name.startswith("store.sqlite"):
            found[path] = path.read_bytes()
    return found


def paths(proxy, item, operation, backup):
    document = json.loads((ROOT / "Sources/Proxy/Operator/openapi.json").read_text())
    values = {"table": "todoitem", "id": operation, "name": "phone", "item": item, "itemId": item, "at": backup}
    for path, methods in document["paths"].items():
        if "get" in methods and not path.endswith(("/events", "/{file}")):
            for name, value in values.items():
                path = path.replace("{" + name + "}", value)
            assert "{" not in path, path
            yield path
    yield from (f"/-/{name}" for name in dashboard_files())
    yield from ("/", "/-/", "/favicon.ico", "/-/nothing", "/c/guess/tables/todoitem")
    for query in ("", f"/{item}", "/nothing", "?$filter=text eq 'x'", "?$inlinecount=allpages&$top=1"):
        for table in ("todoitem", "another", "MS_TableOperations"):
            yield f"/tables/{table}{query}"


def test_reads_change_nothing(start):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    item = proxy.insert({"text": "x"})["id"]
    proxy.sync()
    proxy.update(item, {"text": "waits"})
    (operation,) = proxy.operator("GET", "/operations")["items"]
    proxy.operator("POST", "/access", expect=201, json={"name": "phone"})
    backup = proxy.operator("POST", "/backups", expect=201, json={})["at"]
    proxy.stop()
    backend.stop()  # What a list of another table asks of the backend is not tested here.
    proxy.start()
    before = contents(proxy)
    assert len(before) > 10
    asked = 0
    for path in paths(proxy, item, operation["id"], backup):
        for headers in ({}, ZUMO, {"Authorization": f"Bearer {proxy.token}", **ZUMO}):
            for method in ("GET", "HEAD"):
                answer = requests.request(method, proxy.url + path, headers=headers, timeout=20)
                assert answer.status_code < 600
                asked += 1
    assert asked > 200
    after = contents(proxy)
    changed = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    assert not changed
