"""What a site no longer keeps, and an Understudy that was away for longer than deletions are kept."""

import json
from datetime import datetime, timedelta, timezone

import pytest
from moving import columns, moved, open_operations, rows, run_site
from programs import wait_until


def days_ago(days):
    return (datetime.now(timezone.utc) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def export(path, ids, days, version, **more):
    """An export whose rows changed so many days ago. A table to which no client has written keeps their times."""
    lines = [{"type": "export", "format": 1, "identity": "anonymous"}]
    lines += [{"type": "server", "table": "todoitem", "idKind": "string", "id": id, "columns": {"text": f"old {id}"},
               "createdAt": days_ago(300), "updatedAt": days_ago(days), "version": f"{version}{id}",
               "deleted": False, **more} for id in ids]
    lines.append({"type": "end", "server": len(ids), "operations": 0})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def live(server):
    return {id: row for id, row in columns(rows(server)).items() if not row["deleted"]}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_proxy_that_was_away_keeps_no_row_that_is_gone(start, request, tmp_path, kind):
    if kind == "sqlite":
        place, kept_at = ["--data", tmp_path / "site"], ()
    else:
        place = kept_at = ("--database", request.getfixturevalue("postgresql").url)
    moved("import", export(tmp_path / "rows.jsonl", "abcdef", 200, "v"), *place)
    node = start.node(*kept_at, "--keep-tombstones", "forever", folder="site")
    here, away = (start.proxy(node.url, "--sync", "manual", "--table", "todoitem", folder=name)
                  for name in ("here", "away"))
    for proxy in (here, away):
        assert proxy.sync()["state"] == "complete"
        assert sorted(live(proxy)) == list("abcdef")

    # One makes changes and stays away. Meanwhile rows are deleted, of which the other learns.
    away.update("b", {"text": "mine"})
    away.delete("c")
    away.insert({"id": "new", "text": "mine"})
    node.stop()
    moved("import", export(tmp_path / "deletions.jsonl", "abc", 100, "w", deleted=True), *place)
    node.start()
    assert here.sync()["state"] == "complete"
    assert sorted(live(here)) == list("def") and len(rows(node)) == 6
    # The tombstones, a hundred days old, are removed at the next start.
    node.stop()
    node.arguments = kept_at
    node.start()
    wait_until(lambda: sorted(rows(node)) == list("def"), what="the removal")
    wait_until(lambda: 'understudy_node_expired_total{kind="tombstones"} 3'
               in node.request("GET", "/-/metrics").text, what="the metric")
    answer = node.request("GET", "/tables/todoitem?$top=1")
    assert answer.headers["Understudy-Deletions-After"].startswith(days_ago(100)[:10])

    run = away.sync()
    assert run["state"] == "completeWithErrors", run
    assert open_operations(away) == {"conflict": 1}
    # Whole rows are the same on all sides, but for the one that a person decides.
    assert here.sync()["state"] == "complete"
    expected = live(node)
    assert sorted(expected) == ["d", "e", "f", "new"] and live(here) == expected
    assert live(away) == {**expected, "b": {"id": "b", "text": "mine", "deleted": False}}
    versions = {id: row["version"] for id, row in rows(node).items()}
    conflict = away.operator("GET", "/conflicts")["items"][0]
    assert conflict["itemId"] == "b" and conflict["mine"]["text"] == "mine", conflict
    away.operator("POST", f"/conflicts/{conflict['id']}/resolve",
                  json={"revision": conflict["revision"], "choice": "mine"})
    for proxy in (away, here):
        assert proxy.sync()["state"] == "complete" and open_operations(proxy) == {}
    assert live(away) == live(here) == live(node) == {**expected, "b": {"id": "b", "text": "mine", "deleted": False}}
    assert {id: row["version"] for id, row in rows(node).items() if id != "b"} == versions
    # A person's comparison finds nothing more, and no restored backup.
    done = away.command("pull", "todoitem", "--reconcile")
    assert done.returncode == 0, done


@pytest.mark.parametrize("said, reason", [
    (("--keep-effects", "12h"), "from 24h to 3650d, such as 12h or 30d, or forever"),
    (("--keep-effects", "0"), "from 24h to 3650d"),
    (("--keep-tombstones", "29d"), "--keep-tombstones must not be shorter than --keep-effects"),
    (("--keep-effects", "forever"), "--keep-tombstones must not be shorter than --keep-effects"),
])
def test_times_that_make_no_sense_are_refused(said, reason, tmp_path):
    refused = run_site("run", "--data", tmp_path / "site", *said, expect=2)
    assert reason in refused.stderr, refused
