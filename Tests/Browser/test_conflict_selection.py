"""Conflicts are found, picked and decided by a rule, which says before what it will write."""

import pytest
from playwright.sync_api import expect


TABLES = ["todoitem", "book"]


@pytest.fixture
def clashing(pair):
    """Six conflicts of two tables; in each, one field was changed on both sides and another only here."""
    backend, proxy = pair
    ids = {"todoitem": ["a", "b", "c", "d"], "book": ["x", "y"]}
    for table, some in ids.items():
        for id in some:
            backend.insert({"id": id, "text": f"base {id}", "note": "base"}, table)
    proxy.sync()
    # Of a and b ours is the later side, of the others theirs.
    for table, some in ids.items():
        for id in some:
            if id in "ab":
                backend.update(id, {"text": f"theirs {id}"}, table)
            proxy.update(id, {"text": f"mine {id}", "note": f"my note {id}"}, table)
            if id not in "ab":
                backend.update(id, {"text": f"theirs {id}"}, table)
    proxy.sync()
    assert proxy.operator("GET", "/conflicts")["total"] == 6
    return backend, proxy


def rows(server, table="todoitem"):
    return {row["id"]: (row["text"], row["note"]) for row in server.all(table)}


def test_picked_conflicts_are_decided_by_a_rule_that_shows_what_it_writes(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy)
    page.open("conflicts")
    listed = page.page.locator(".conflict-list li")
    expect(listed).to_have_count(6)
    for id in "abc":
        page.page.get_by_role("checkbox", name=f"Select “mine {id}”").check()
    expect(page.page.get_by_text("3 selected")).to_be_visible()
    page.page.get_by_role("button", name="Keep the newest for all").click()
    dialog = page.page.get_by_role("dialog")
    expect(dialog).to_contain_text("mine a text: mine a · note: my note a")
    expect(dialog).to_contain_text("mine c text: theirs c · note: my note c")
    page.accessible()
    page.confirm("Keep the newest for all 3")
    page.toast("3 conflicts decided")
    expect(listed).to_have_count(3)
    page.undo()
    page.toast("3 decisions undone")
    expect(listed).to_have_count(6)
    for id in "abc":
        page.page.get_by_role("checkbox", name=f"Select “mine {id}”").check()
    page.page.get_by_role("button", name="Keep the newest for all").click()
    page.confirm("Keep the newest for all 3")
    expect(listed).to_have_count(3)
    page.sync()
    expected = {
        "a": ("mine a", "my note a"), "b": ("mine b", "my note b"), "c": ("theirs c", "my note c"),
        "d": ("theirs d", "base"),
    }
    assert rows(backend) == expected
    assert {**rows(proxy), "d": expected["d"]} == expected


def test_a_filter_stays_in_the_address_and_all_that_match_are_decided(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy)
    page.open("conflicts")
    listed = page.page.locator(".conflict-list li")
    expect(listed).to_have_count(6)
    page.page.get_by_text("More filters").click()
    page.page.get_by_role("combobox", name="Table").select_option("book")
    expect(listed).to_have_count(2)
    page.page.get_by_role("combobox", name="Table").select_option("")
    expect(listed).to_have_count(6)
    search = page.page.get_by_role("searchbox")
    search.press_sequentially("mine")
    search.press_sequentially(" d")
    expect(search).to_be_focused()
    expect(page.page.locator(".conflict h1")).to_contain_text("mine d")
    assert "q=mine+d" in page.page.url
    page.page.reload()
    expect(page.page.locator(".conflict h1")).to_contain_text("mine d")
    search.fill("nothing has this")
    expect(page.page.locator("main")).to_contain_text("Nothing matches")
    search.fill("")
    page.page.get_by_text("More filters").click()
    page.page.get_by_role("combobox", name="Field").select_option("note")
    expect(listed).to_have_count(6)
    page.page.get_by_role("combobox", name="Who").select_option("client")
    expect(listed).to_have_count(6)
    page.page.get_by_role("combobox", name="Age").select_option("3600")
    expect(page.page.locator("main")).to_contain_text("Nothing matches")
    page.page.get_by_role("combobox", name="Age").select_option("")
    page.page.get_by_role("combobox", name="Table").select_option("book")
    expect(listed).to_have_count(2)
    page.page.get_by_text("All 2 that match").click()
    page.page.get_by_role("button", name="Merge all").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("mine x text: theirs x · note: my note x")
    page.confirm("Merge all 2")
    page.toast("2 conflicts decided")
    # The filter hides nothing any more, so the others are shown.
    expect(listed).to_have_count(4)
    page.sync()
    assert rows(backend, "book") == rows(proxy, "book") == {
        "x": ("theirs x", "my note x"), "y": ("theirs y", "my note y")}
    assert rows(backend) == {id: (f"theirs {id}", "base") for id in "abcd"}


def test_conflicts_that_are_picked_in_the_queue_are_decided_there(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy)
    page.open("queue?state=conflict")
    expect(page.page.locator(".bulk").get_by_role("link", name="Conflicts")).to_be_visible()
    for id in "ad":
        page.page.get_by_role("checkbox", name=f"Select “mine {id}”").check()
    page.page.get_by_role("button", name="Decide 2 conflicts").click()
    page.page.get_by_role("dialog").get_by_role("button", name="Keep the server’s for all").click()
    page.confirm("Keep the server’s for all 2")
    page.toast("2 conflicts decided")
    expect(page.page.locator(".operations li")).to_have_count(4)
    assert rows(proxy)["a"] == ("theirs a", "base") and rows(proxy)["d"] == ("theirs d", "base")
    assert rows(proxy)["b"] == ("mine b", "my note b")
