"""Commands name a wrong or empty option, and take it for no selection. What the operator API takes is tested in
process, by StrictRequestTests."""

import pytest


@pytest.fixture(scope="module")
def proxy(start_shared):
    """Rows, a queue, a conflict and a history."""
    backend = start_shared.backend()
    proxy = start_shared.proxy(backend.url, "--sync", "manual")
    for id in ("a", "b", "eggs"):
        proxy.insert({"id": id, "text": "first"})
    proxy.sync()
    proxy.update("eggs", {"text": "mine"})
    backend.update("eggs", {"text": "theirs"})
    proxy.sync()
    proxy.update("a", {"text": "queued"})
    proxy.operator("POST", "/access", expect=201, json={"name": "phone"})
    return proxy


def shown(proxy):
    """All that the operator API shows."""
    paths = ["/operations?state=all", "/conflicts", "/history", "/runs", "/tables", "/settings",
             "/access", "/sessions", "/tables/todoitem/items"]
    status = proxy.status()
    return [proxy.operator("GET", path) for path in paths] + [status[name] for name in ("mode", "queue", "ledger")]


def test_a_setting_that_there_is_not_is_named_with_the_nearest(proxy):
    before = proxy.operator("GET", "/settings")
    said = proxy.command("settings", "set", "intervalSecond=60")
    assert said.returncode == 2
    assert "did you mean intervalSeconds?" in said.stderr
    said = proxy.command("settings", "set", "intervalSeconds=60", "intervalSeconds=70")
    assert said.returncode == 2 and "/intervalSeconds is there twice" in said.stderr
    assert proxy.operator("GET", "/settings") == before


@pytest.mark.parametrize("words", [
    ["queue", "discard", "--all", "--table", "", "--yes"],
    ["queue", "discard", "--all", "--text", "", "--yes"],
    ["queue", "discard", "--all", "--state", "", "--yes"],
    ["queue", "retry", "--all", "--state", ","],
    ["conflicts", "resolve-all", "mine", "--table", "", "--yes"],
    ["purge", "todoitem", "--query", "", "--yes"],
    ["queue", "list", "--after", "garbage"],
    ["queue", "list", "--table", ""],
    ["queue", "list", "--text", ""],
    ["queue", "groups", "--reason", ""],
    ["queue", "list", "--limit", "0"],
    ["queue", "list", "--state", "foo"],
    ["offline", "--for", "99999999999"],
    ["tables", "set", "todoitem", "--conflict", "foo"],
])
def test_a_wrong_or_empty_option_of_a_command_is_named_and_is_not_all(proxy, words):
    before = shown(proxy)
    said = proxy.command(*words)
    option = next(word for word in words if word.startswith("--") and word != "--all")
    assert said.returncode == 2 and option in said.stderr and "must be" in said.stderr, said
    assert shown(proxy) == before
