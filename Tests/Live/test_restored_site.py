"""A site whose database was restored from an older dump: what proxies still have is taken in again."""

import datetime
import json
import subprocess

from programs import SITE, wait_until


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat()


def dump_and_restore(postgresql):
    """Dumps now; the result restores the dump."""
    dump = postgresql.folder / "site.dump"
    postgresql._run("pg_dump", "--format=custom", "--schema=understudy", f"--file={dump}", postgresql.url)
    return lambda: postgresql._run(
        "pg_restore", "--clean", "--if-exists", f"--dbname={postgresql.url}", str(dump))


def shown(rows):
    """Rows without what the store gives them."""
    return sorted((row["id"], row["text"], row["rank"]) for row in rows)


def test_what_proxies_have_is_taken_in_after_a_restore(start, postgresql, tmp_path):
    node = start.node("--database", postgresql.url)
    one, two = (start.proxy(node.url, "--sync", "manual", folder=name) for name in ("one", "two"))
    for id in ("kept", "changed-1", "changed-2", "deleted", "gone-before"):
        one.insert({"id": id, "text": "as dumped", "rank": 1})
    one.sync()
    # The backend keeps a row of each deletion.
    one.delete("gone-before")
    for proxy in (one, two):
        assert proxy.sync()["state"] == "complete"
    dumped = now()
    restore = dump_and_restore(postgresql)

    for number in range(3):
        one.insert({"id": f"new-{number}", "text": "of one", "rank": number})
    one.update("changed-1", {"text": "changed by one"})
    one.sync()
    two.sync()
    for number in range(3, 5):
        two.insert({"id": f"new-{number}", "text": "of two", "rank": number})
    two.update("changed-2", {"text": "changed by two"})
    # The newest version of a row may be known to one proxy alone.
    two.update("changed-1", {"text": "changed by both"})
    two.delete("deleted")
    two.sync()
    lost = shown(two.list())
    assert len(lost) == 8

    node.stop()
    restore()
    node.start()
    assert shown(node.list()) != lost

    # A comparison that would take the older rows refuses, and changes nothing.
    before = two.list()
    refused = two.command("pull", "todoitem", "--reconcile")
    assert refused.returncode != 0 and "restored from an older backup" in refused.stdout + refused.stderr, refused
    assert two.list() == before

    files = []
    for proxy, name in ((one, "one.jsonl"), (two, "two.jsonl")):
        files.append(tmp_path / name)
        exported = proxy.command("export", "--output", files[-1])
        assert exported.returncode == 0, exported
    arguments = [SITE, "import", *files, "--database", postgresql.url, "--restored-to", dumped]
    for more in (["--dry-run"], []):
        done = subprocess.run([*arguments, *more], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done
    for proxy in (one, two, one):
        assert proxy.sync()["state"] == "complete"
    assert shown(node.list()) == shown(one.list()) == shown(two.list()) == lost
    # Nothing is older any more.
    done = two.command("pull", "todoitem", "--reconcile")
    assert done.returncode == 0, done
    assert shown(two.list()) == lost


def test_a_row_that_was_changed_on_both_sides_stays_and_is_named(start, postgresql, tmp_path):
    node = start.node("--database", postgresql.url)
    proxy = start.proxy(node.url, "--sync", "manual")
    for id in ("lost", "both", "gone", "here", "untouched"):
        proxy.insert({"id": id, "text": "as dumped", "rank": 1})
    assert proxy.sync()["state"] == "complete"
    dumped = now()
    restore = dump_and_restore(postgresql)
    for id in ("lost", "both", "gone"):
        proxy.update(id, {"text": "after the dump"})
    assert proxy.sync()["state"] == "complete"
    node.stop()
    restore()
    node.start()
    for id in ("both", "here"):
        node.update(id, {"text": "after the restore"})
    node.delete("gone")

    file = tmp_path / "export.jsonl"
    assert proxy.command("export", "--output", file).returncode == 0

    def imported(*arguments):
        return subprocess.run(
            [SITE, "import", file, "--database", postgresql.url, "--restored-to", dumped, *arguments],
            capture_output=True, text=True, timeout=60)

    for tried in ("--dry-run", "--json"):
        done = imported("--json", *{tried} - {"--json"})
        assert done.returncode == 4, done
        report = json.loads(done.stdout)
        assert [(row["id"], row["outcome"]) for row in report["rows"]] == [
            ("both", "changedHere"), ("gone", "changedHere")], report
        [counts] = report["tables"]
        assert [counts[name] for name in ("replaced", "same", "older")] == [1, 1, 1], counts
    repeated = imported()
    assert "todoitem both was changed here too, from an older row" in repeated.stdout, repeated
    refused = imported("--restored-to", "yesterday")
    assert refused.returncode == 2 and "'yesterday' is no time" in refused.stderr, refused
    assert proxy.sync()["state"] == "complete"
    wanted = [("both", "after the restore", 1), ("here", "after the restore", 1),
              ("lost", "after the dump", 1), ("untouched", "as dumped", 1)]
    assert shown(node.list()) == shown(proxy.list()) == wanted


def test_older_rows_are_taken_if_told(start, postgresql):
    node = start.node("--database", postgresql.url)
    proxy = start.proxy(node.url, "--sync", "manual")
    proxy.insert({"id": "a", "text": "as dumped", "rank": 1})
    proxy.sync()
    restore = dump_and_restore(postgresql)
    proxy.update("a", {"text": "changed"})
    proxy.insert({"id": "b", "text": "new", "rank": 2})
    proxy.sync()
    node.stop()
    restore()
    node.start()
    assert proxy.command("pull", "todoitem", "--reconcile").returncode != 0
    assert shown(proxy.list()) == [("a", "changed", 1), ("b", "new", 2)]
    done = proxy.command("pull", "todoitem", "--reconcile", "--accept-loss")
    assert done.returncode == 0, done
    assert shown(proxy.list()) == [("a", "as dumped", 1)]
    wait_until(lambda: shown(node.list()) == [("a", "as dumped", 1)], what="the dumped rows")
