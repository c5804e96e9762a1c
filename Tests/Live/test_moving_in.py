"""Moving in: a backend that died is replaced from the exports of its Understudy stores, and one that answers is
copied; then the queues of the proxies drain."""

import json
import signal

import pytest
from moving import OPEN, columns, moved, open_operations, rows, run, run_site
from programs import SITE, wait_until


def pull(proxy):
    run = proxy.operator("POST", "/tables/todoitem/pull?wait=30", json={})
    assert run["state"] == "complete", run


def effects(backend):
    return backend.request("GET", "/-/effects").json()


def test_the_queues_of_two_proxies_drain_into_a_backend_made_of_their_exports(start, tmp_path):
    old = start.backend()
    for number in range(6):
        old.insert({"id": f"row{number}", "text": f"é {number}", "price": 1.5, "done": False, "big": 9007199254740993})
    old.delete("row5")
    proxies = [start.proxy(old.url, "--sync", "manual", folder=f"proxy{n}") for n in range(2)]
    for proxy in proxies:
        pull(proxy)
    # The first one has pulled a row that is older than the second one's.
    old.update("row4", {"text": "newer"})
    assert proxies[1].sync()["state"] == "complete"
    last = rows(old)
    old.program.kill()

    one, two = proxies
    one.insert({"id": "from-one", "text": "new"})
    one.update("row0", {"text": "one's"})
    one.delete("row1")
    one.update("row4", {"done": True})
    two.insert({"id": "from-two", "text": "new"})
    two.update("row0", {"text": "two's"})
    two.update("row2", {"price": 2.5})
    two.update("row2", {"text": "twice"})
    assert one.sync()["state"] == "offline"
    files = []
    for number, proxy in enumerate(proxies):
        files.append(tmp_path / f"export{number}.jsonl")
        assert proxy.command("export", "--output", files[-1]).returncode == 0
        proxy.stop()

    place = ["--data", tmp_path / "site"]
    planned = moved("import", *files, *place, "--dry-run")
    done = moved("import", *files, *place)
    assert {**planned, "dryRun": False} == done
    # row4 is older in the first file; all others are in both.
    assert done["tables"] == [{"table": "todoitem", "added": 6, "replaced": 1, "same": 5, "older": 0,
                               "changedHere": 0, "deletedHere": 0, "undecided": 0}]
    assert [(one["file"], one["table"], one["itemId"], one["kind"]) for one in done["operations"]] == [
        (str(files[number]), "todoitem", id, kind) for number, id, kind in [
            (0, "from-one", "insert"), (0, "row0", "update"), (0, "row1", "delete"), (0, "row4", "update"),
            (1, "from-two", "insert"), (1, "row0", "update"), (1, "row2", "update")]]
    assert {one["state"] for one in done["operations"]} <= set(OPEN)
    again = moved("import", *reversed(files), *place)
    assert again["tables"][0]["same"] + again["tables"][0]["older"] == 12

    new = start.backend_later("--faults", folder="site")
    new.start()
    # Whole rows: ids, texts, versions, times and the deletion.
    assert rows(new) == last
    # While it runs, nothing else writes its folder.
    refused = run_site("import", files[0], *place, expect=2)
    assert "Another Understudy runs on" in refused.stderr

    for proxy in proxies:
        proxy.backend_url = new.url
        proxy.start()
        assert "--rebind" in proxy.sync()["reason"]
        proxy.stop()
        proxy.start("--rebind")
    assert one.sync()["state"] == "complete"
    run_of_two = two.sync()
    assert open_operations(one) == {} and open_operations(two) == {"conflict": 1}, run_of_two
    conflict = two.operator("GET", "/conflicts")["items"][0]
    assert (conflict["itemId"], conflict["mine"]["text"], conflict["server"]["text"]) == ("row0", "two's", "one's")
    two.operator("POST", f"/conflicts/{conflict['id']}/resolve",
                 json={"revision": conflict["revision"], "choice": "mine"})
    for proxy in (two, one, two):
        assert proxy.sync()["state"] == "complete"
    assert open_operations(two) == {}

    there = rows(new)
    expected = columns(last)
    expected["from-one"] = {"id": "from-one", "text": "new", "deleted": False}
    expected["from-two"] = {"id": "from-two", "text": "new", "deleted": False}
    expected["row0"]["text"] = "two's"
    expected["row1"]["deleted"] = True
    expected["row2"].update(price=2.5, text="twice")
    expected["row4"]["done"] = True
    assert columns(there) == expected
    for proxy in proxies:
        live = {id: row for id, row in columns(rows(proxy)).items() if not row["deleted"]}
        assert live == {id: row for id, row in expected.items() if not row["deleted"]}
    # Each acknowledged write is there once: row2's two updates were one operation.
    kinds = sorted((one["id"], one["kind"]) for one in effects(new)["effects"])
    assert kinds == [("from-one", "insert"), ("from-two", "insert"), ("row0", "update"), ("row0", "update"),
                     ("row1", "delete"), ("row2", "update"), ("row4", "update")]
    assert there["row3"] == last["row3"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_deletion_that_only_one_store_knows_moves_in(start, tmp_path, order):
    old = start.backend("--hard-delete", "todoitem")
    for id in ("deleted", "again", "kept"):
        old.insert({"id": id, "text": id})
    proxies = [start.proxy(old.url, "--sync", "manual", folder=f"proxy{n}") for n in range(2)]
    for proxy in proxies:
        pull(proxy)
    one, two = proxies
    one.delete("deleted")
    one.delete("again")
    assert one.sync()["state"] == "complete"
    # Somebody inserts it anew, which only the second one sees. It never learns that the other row is gone.
    old.insert({"id": "again", "text": "new"})
    pull(two)
    old.program.kill()
    files = []
    for number, proxy in enumerate(proxies):
        files.append(tmp_path / f"export{number}.jsonl")
        assert proxy.command("export", "--output", files[-1]).returncode == 0
    before = rows(two)
    assert not before["deleted"]["deleted"]

    done = moved("import", *files[::order], "--data", tmp_path / "site")["tables"][0]
    assert (done["undecided"], done["added"]) == (0, 3)
    new = start.backend_later(folder="site")
    new.start()
    expected = columns(before)
    expected["deleted"]["deleted"] = True
    assert columns(rows(new)) == expected
    assert expected["again"] == {"id": "again", "text": "new", "deleted": False}


def test_what_is_no_whole_export_is_named(start, tmp_path):
    old = start.backend()
    for id in ("a", "b"):
        old.insert({"id": id, "text": "x"})
    proxy = start.proxy(old.url, "--sync", "manual")
    pull(proxy)
    proxy.insert({"id": "c", "text": "not sent"})
    whole = proxy.command("export").stdout
    place = ["--data", tmp_path / "site"]
    file = tmp_path / "export.jsonl"
    lines = whole.splitlines(keepends=True)

    def without(type):
        """The export without its last line of a type."""
        last = max(number for number, line in enumerate(lines) if line.startswith(f'{{"type":"{type}"'))
        return "".join(lines[:last] + lines[last + 1:])

    for text, words in [
        ("".join(lines[:2]) + "{torn\n" + "".join(lines[2:]), "export.jsonl:3 is no JSON object"),
        ("".join(lines[:-1]), "its last line is missing"),
        (without("server"), "lines that it counts are missing"),
        (without("operation"), "lines that it counts are missing"),
        ("".join(lines[:-1]) + whole, "lines that it counts are missing"),
        (whole + "".join(lines[:-1]), "its last line is missing"),
        ("".join(line for line in lines if '"type":"server"' not in line), "no rows of the old backend"),
        ('{"type":"server","table":"t","idKind":"integer","id":"x","columns":{},"deleted":false}\n', "export.jsonl:1"),
        ("", "its last line is missing"),
    ]:
        file.write_text(text)
        done = run_site("import", file, *place, expect=1)
        assert words in done.stderr and done.stderr.count("\n") == 1, done
        assert ".." not in done.stderr, done
    assert "There is no file" in run_site("import", tmp_path / "none", *place, expect=1).stderr
    # Standard input, as with `understudy import`.
    assert "todoitem: 2" in run_site("import", "-", *place, input=whole).stdout
    assert run_site("import", "-", *place, "--json", expect=1).stdout == ""


def numbered(table):
    """An export of a table with integer ids."""
    row = {"type": "server", "table": table, "idKind": "integer", "id": "1", "columns": {}, "deleted": False}
    return "".join(json.dumps(line) + "\n" for line in [{"type": "export"}, row, {"type": "end"}])


def test_a_table_that_cannot_be_copied_does_not_hide_the_others(start, tmp_path):
    old = start.backend(folder="old")
    old.insert({"id": "a", "text": "x"})
    assert old.request("POST", "/tables/lists", json={"id": "a"}).status_code == 201
    place = ["--data", tmp_path / "site"]
    run_site("import", "-", *place, input=numbered("lists"))
    done = run_site("copy", "--from", old.url, "--table", "lists", "--table", "nothing", "--table", "todoitem",
               "--work", tmp_path / "work", *place, "--json", expect=1)
    assert "The ids of the table lists are integers here and texts there." in done.stderr
    assert json.loads(done.stdout)["tables"] == [
        {"table": "nothing", "there": 0, "here": 0, "setAside": 0, "differences": []},
        {"table": "todoitem", "there": 1, "here": 1, "setAside": 0, "differences": []}]
    # A table without rows was not made, so it may have ids of any kind.
    assert "nothing: 1 new" in run_site("import", "-", *place, input=numbered("nothing")).stdout
    # Nor does an empty table there have to be of the kind that it is here.
    copy = ["copy", "--from", old.url, "--table", "nothing", "--work", tmp_path / "work", *place]
    assert moved(*copy, expect=4)["tables"][0]["differences"] == [{"id": "1", "kinds": ["onlyHere"]}]


def test_a_deletion_leaves_the_id_free_in_a_table_that_deletes_for_good(start, tmp_path):
    site = start.backend("--table", "todoitem:hard", folder="site")
    site.stop()
    row = {"type": "server", "table": "todoitem", "idKind": "string", "id": "a", "columns": {"text": "x"},
           "version": "AAAB", "updatedAt": "2026-01-02T03:04:05.1234567Z", "deleted": False}
    deletion = {**row, "deleted": True, "deletedSince": True}

    def file(name, line):
        (tmp_path / name).write_text("".join(
            json.dumps(one) + "\n" for one in [{"type": "export"}, line, {"type": "end"}]))
        return tmp_path / name

    files = [file("deletion.jsonl", deletion), file("row.jsonl", row)]
    place = ["--data", tmp_path / "site"]
    planned = moved("import", *files, *place, "--dry-run")
    done = moved("import", *files, *place)
    assert {**planned, "dryRun": False} == done
    assert (done["tables"][0]["added"], done["tables"][0]["older"], done["rows"]) == (1, 1, [])
    site.start()
    assert rows(site) == {}
    assert site.request("POST", "/tables/todoitem", json={"id": "a", "text": "new"}).status_code == 201
    assert columns(rows(site)) == {"a": {"id": "a", "text": "new", "deleted": False}}


def test_a_row_from_the_far_future_is_named_and_does_not_hide_later_changes(start, tmp_path):
    row = {"type": "server", "table": "todoitem", "idKind": "string", "id": "a", "columns": {"text": "x"},
           "version": "AAAB", "updatedAt": "9999-12-31T23:59:59.9999999Z", "deleted": False}
    export = "".join(json.dumps(one) + "\n" for one in [{"type": "export"}, row, {"type": "end"}])
    place = ["--data", tmp_path / "site"]
    done = json.loads(run_site("import", "-", *place, "--json", input=export).stdout)
    assert done["rows"] == [{"place": "-:2", "table": "todoitem", "id": "a", "outcome": "added"}]
    again = run_site("import", "-", *place, input=export).stdout
    assert again == "todoitem: 1 here already\n"
    site = start.backend(folder="site")
    for id in ("b", "c"):
        site.insert({"id": id, "text": "new"})
    stamps = [row["updatedAt"] for row in rows(site).values()]
    assert stamps == sorted(set(stamps)) and stamps[-1] < "9999"


@pytest.mark.parametrize("flavour", ["1", "2", "3-toolkit"])
def test_a_backend_that_answers_is_copied_and_compared(start, tmp_path, flavour):
    old = start.backend("--flavour", flavour, "--page-rows", "20", folder="old")
    zumo = {"1": {}, "2": {"ZUMO-API-VERSION": "2.0.0"}, "3-toolkit": {"ZUMO-API-VERSION": "3.0.0"}}[flavour]
    del old.session.headers["ZUMO-API-VERSION"]
    old.session.headers.update(zumo)
    for number in range(70):
        old.insert({"id": f"row{number:02}", "text": f"é {number}", "price": 1.5})
    for number in range(5):
        old.delete(f"row{number:02}")
    copy = ["copy", "--from", old.url, "--table", "todoitem", "--work", tmp_path / "work",
            "--data", tmp_path / "site", "--header", "X-Test: 1"]
    done = moved(*copy)
    assert done["tables"] == [{"table": "todoitem", "there": 70, "here": 70, "setAside": 0, "differences": []}]
    assert done["moved"][0]["added"] == 70

    # It goes on with what has changed since.
    answer = old.request("PUT" if flavour == "3-toolkit" else "PATCH", "/tables/todoitem/row10",
                         json={"id": "row10", "text": "changed", "price": 1.5})
    assert answer.status_code == 200, answer.text
    old.delete("row11")
    done = moved(*copy)
    assert (done["moved"][0]["replaced"], done["moved"][0]["same"]) == (2, 68)
    assert done["tables"][0]["differences"] == []

    # What a client changes here stays, and is told.
    new = start.backend("--flavour", flavour, folder="site")
    new.session.headers.clear()
    new.session.headers.update(zumo)
    theirs = {row["id"]: row for row in old.all()} if flavour != "3-toolkit" else None
    if theirs:
        assert {row["id"]: row for row in new.all()} == theirs
    new.delete("row20")
    new.stop()
    done = moved(*copy, expect=4)
    difference = done["tables"][0]["differences"][0]
    assert difference["id"] == "row20" and "deleted" in difference["kinds"]
    assert "row20: another version, another deleted" in run_site(*copy, expect=4).stdout


def test_a_copy_that_is_killed_goes_on(start, tmp_path):
    # A minute lies between two rows: a pull begins some seconds before the last row that it has.
    lines = [{"type": "export"}, *({
        "type": "server", "table": "todoitem", "idKind": "string", "id": f"row{number:03}", "version": "AAAB",
        "updatedAt": f"2026-01-02T{number // 60:02}:{number % 60:02}:00.1234567Z", "deleted": number % 7 == 0,
        "columns": {"text": str(number)}} for number in range(300)), {"type": "end"}]
    export = "".join(json.dumps(line) + "\n" for line in lines)
    run_site("import", "-", "--data", tmp_path / "old", input=export)
    old = start.backend("--faults", folder="old")
    copy = ["copy", "--from", old.url, "--table", "todoitem", "--page-size", "20",
            "--work", tmp_path / "work", "--data", tmp_path / "site"]

    def asked():
        return effects(old)["requests"]["GET"]

    def slow(milliseconds):
        old.faults({"kind": "latency", "milliseconds": milliseconds})

    slow(40)
    for _ in range(2):
        before = asked()
        program = start.program(*copy, binary=SITE)
        wait_until(lambda: asked() >= before + 7, what="some pages")
        assert program.process.poll() is None
        program.stop(signal.SIGKILL)
    slow(0)
    before = asked()
    done = json.loads(run_site(*copy, "--json").stdout)
    assert done["tables"] == [{"table": "todoitem", "there": 300, "here": 300, "setAside": 0, "differences": []}]
    # A copy from the beginning asks for each of the 15 pages twice.
    assert asked() - before < 28
    old.stop()
    assert "The copy can be started again." in run_site(*copy, expect=3).stderr


def test_columns_with_the_names_of_the_servers_own_are_kept_and_named(start, tmp_path):
    """Columns that generation 1 leaves to users are the server's in generation 2."""
    old = start.backend("--flavour", "1")
    del old.session.headers["ZUMO-API-VERSION"]
    own = {"text": "t", "version": 1, "createdAt": "2014-05-06"}
    old.request("POST", "/tables/todoitem", json={"id": "a", **own})
    old.request("POST", "/tables/todoitem", json={"id": "b", "text": "u"})
    place = ["--data", tmp_path / "site", "--work", tmp_path / "work"]
    # The first generation gives a column that one row has to all rows, as null.
    hidden = [{"table": "todoitem", "rows": 2, "columns": ["createdAt", "version"]}]
    done = moved("copy", "--from", old.url, "--table", "todoitem", *place)
    assert (done["hiddenColumns"], done["tables"][0]["differences"]) == (hidden, [])
    told = run_site("copy", "--from", old.url, "--table", "todoitem", *place).stdout
    assert "clients of the flavour 2 do not see" in told and "createdAt, version" in told
    new = start.backend_later(folder="site")
    new.start()
    # Each name once: the proxy takes both rows.
    text = new.request("GET", "/tables/todoitem/a").text
    assert text.count('"version":') == text.count('"createdAt":') == 1
    proxy = start.proxy(new.url, "--sync", "manual")
    pull(proxy)
    assert columns(rows(proxy)) == columns(rows(new)) == {
        id: {"id": id, "text": text, "deleted": False} for id, text in [("a", "t"), ("b", "u")]}
    new.stop()
    # A backend of the first generation shows them.
    again = start.backend_later("--flavour", "1", folder="site")
    again.start()
    del again.session.headers["ZUMO-API-VERSION"]
    assert again.request("GET", "/tables/todoitem/a").json() == {"id": "a", **own}
