"""Commands find conflicts and operations by what they are about."""

def make_conflict(start):
    backend = start.backend()
    backend.insert({"id": "eggs", "text": "Buy eggs", "complete": False})
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.insert({"text": "creates the table"})
    proxy.sync()
    proxy.update("eggs", {"text": "Buy eggs (6)"})
    backend.update("eggs", {"text": "Buy organic eggs"})
    run = proxy.sync()
    assert run["state"] == "completeWithErrors", run
    assert run["push"]["conflicts"] == 1
    (conflict,) = proxy.operator("GET", "/conflicts")["items"]
    return backend, proxy, conflict


def test_commands_find_conflicts_and_operations_by_what_they_are_about(start):
    _, proxy, conflict = make_conflict(start)
    found = lambda *words: proxy.command(*words).stdout
    for words in (["--table", "todoitem"], ["--text", "eggs (6)"], ["--column", "text"], ["--actor", "client"]):
        assert "eggs" in found("conflicts", "list", *words), words
        assert "eggs" in found("queue", "list", *words, "--status", "412", "--sort", "newest"), words
    for words in (["--table", "other"], ["--column", "complete"], ["--before", "2020-01-01T00:00:00Z"]):
        assert "No conflicts" in found("conflicts", "list", *words), words
        assert "eggs" not in found("queue", "list", *words), words
    refused = proxy.command("queue", "list", "--sort", "colour")
    assert refused.returncode != 0 and "sort" in refused.stderr, refused
    decided = proxy.command("conflicts", "resolve-all", "newest", "--column", "text", "--yes")
    assert decided.returncode == 0 and "1 operation decided" in decided.stdout, decided
    assert proxy.sync()["state"] == "complete"
    assert proxy.get("eggs").json()["text"] == "Buy organic eggs"
