"""`history --undo-decisions` says what becomes of each decision, before it is done and after."""


def test_each_undone_decision_is_told(start):
    backend = start.backend()
    for id in "ab":
        backend.insert({"id": id, "text": "base"})
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    for id in "ab":
        proxy.update(id, {"text": f"mine {id}"})
        backend.update(id, {"text": f"theirs {id}"})
    proxy.sync()
    conflicts = {one["itemId"]: one["id"] for one in proxy.operator("GET", "/conflicts")["items"]}
    assert proxy.command("conflicts", "resolve", conflicts["a"], "mine").returncode == 0
    proxy.sync()
    assert proxy.command("conflicts", "resolve", conflicts["b"], "mine").returncode == 0
    each = [
        f"  {conflicts['a']}  It was sent already, so no conflict opens. "
        "The next sync sends a new change: it sets back “text”.",
        f"  {conflicts['b']}  The conflict is open again, with all three versions.",
        "  none  There is no decision about it that can be undone.",
    ]
    undo = ["history", "--undo-decisions", conflicts["a"], conflicts["b"], "none"]
    planned = proxy.command(*undo, "--dry-run").stdout.splitlines()
    assert planned == ["2 decisions would be undone, 1 cannot be undone.", *each]
    assert proxy.operator("GET", "/conflicts")["total"] == 0
    done = proxy.command(*undo).stdout.splitlines()
    assert done == ["2 decisions undone, 1 cannot be undone.", *each]
    assert [one["id"] for one in proxy.operator("GET", "/conflicts")["items"]] == [conflicts["b"]]
    proxy.sync()
    assert {row["id"]: row["text"] for row in backend.all()} == {"a": "theirs a", "b": "theirs b"}
