"""The whole story by keyboard alone, the list of keys, and the switch that turns them off."""

import pytest
from playwright.sync_api import expect


def tab_to(page, element):
    """Goes to an element with the keyboard, from the current focus."""
    for _ in range(60):
        if element.evaluate("one => one === document.activeElement"):
            return
        page.page.keyboard.press("Tab")
    raise AssertionError("no number of tabs leads there")


def test_the_story_without_a_mouse(pair, dashboard):
    backend, proxy = pair
    backend.insert({"id": "eggs", "text": "Buy eggs", "complete": False})
    proxy.sync()
    page = dashboard(proxy)
    keys = page.page.keyboard
    expect(page.todo("Buy eggs")).to_have_count(1)
    keys.press("j")
    expect(page.page.get_by_role("button", name="Edit “Buy eggs”")).to_be_focused()
    keys.press("e")
    keys.type("Buy eggs (6)")
    keys.press("Enter")
    expect(page.todo("Buy eggs (6)")).to_contain_text("on this device")
    backend.update("eggs", {"text": "Buy organic eggs"})
    tab_to(page, page.page.get_by_role("button", name="Sync now"))
    keys.press("Enter")
    page.toast("needs a decision")
    keys.press("g")
    keys.press("c")
    expect(page.page.locator("#conflict-title")).to_be_visible()
    keys.press("m")
    page.toast("Decided")
    keys.press("g")
    keys.press("o")
    expect(page.page.locator(".operations li")).to_have_count(1)
    expect(page.page.locator(".operations li")).to_be_visible()  # Above it the causes come first.
    keys.press("j")
    keys.press("Enter")
    expect(page.page.locator("#operation-title")).to_be_focused()
    tab_to(page, page.page.get_by_role("button", name="Sync now"))
    keys.press("Enter")
    page.toast("1 change sent")
    assert backend.get("eggs").json()["text"] == "Buy eggs (6)"
    keys.press("g")
    keys.press("h")
    expect(page.page.locator(".history li").first).to_be_visible()


def test_the_sheet_of_keys_and_the_switch(alone, dashboard):
    page = dashboard(alone)
    keys = page.page.keyboard
    keys.press("?")
    sheet = page.page.get_by_role("dialog")
    expect(sheet).to_contain_text("Next and previous conflict")
    page.accessible()
    page.screenshot("keys-1280-light")
    sheet.get_by_label("Single keys are on").uncheck()
    keys.press("Escape")
    expect(sheet).to_have_count(0)
    keys.press("g")
    keys.press("h")
    keys.press("?")
    expect(sheet).to_have_count(0)
    assert page.page.url.endswith("#/todos")


def test_letters_that_are_typed_are_only_typed(alone, dashboard):
    page = dashboard(alone)
    page.page.keyboard.press("/")
    expect(page.page.get_by_label("Search todos")).to_be_focused()
    page.page.keyboard.type("gcmt?")
    expect(page.page.get_by_label("Search todos")).to_have_value("gcmt?")


def test_keys_tick_delete_and_take_back(alone, dashboard):
    alone.insert({"text": "one", "complete": False})
    page = dashboard(alone)
    keys = page.page.keyboard
    expect(page.todo("one")).to_have_count(1)
    keys.press("j")
    keys.press("x")
    expect(page.todo("one")).to_have_class("done")
    keys.press("u")
    expect(page.todo("one")).not_to_have_class("done")
    keys.press("#")
    expect(page.todo("one")).to_have_count(0)
    keys.press("u")
    expect(page.todo("one")).to_have_count(1)


SEARCHES = {"todos": ".todos", "queue": ".operations", "tables/todoitem": ".grid", "history": ".history"}


@pytest.mark.parametrize("view", SEARCHES)
def test_enter_leaves_a_search_for_the_list_and_escape_leaves_it_too(start, dashboard, view):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    for number in range(3):
        proxy.insert({"text": f"row {number}", "complete": False})
    page = dashboard(proxy)
    page.open(view)
    rows = page.page.locator(f"{SEARCHES[view]} [data-row]")
    expect(rows).to_have_count(3)
    keys = page.page.keyboard
    keys.press("/")
    search = page.page.locator("main input[type=search]:visible").first
    expect(search).to_be_focused()
    wanted = "text eq 'row 2'" if view.startswith("tables") else "row 2"
    keys.type(wanted)
    keys.press("Enter")
    expect(rows).to_have_count(1)
    is_in_row = "() => document.activeElement.closest('[data-row]') !== null"
    page.page.wait_for_function(is_in_row)
    expect(page.page.locator(".side h2")).to_have_count(0)
    keys.press("/")
    expect(search).to_be_focused()
    keys.press("Escape")
    expect(search).not_to_be_focused()
    expect(search).to_have_value(wanted)
    keys.press("j")
    page.page.wait_for_function(is_in_row)


def test_the_same_keys_step_through_conflicts_and_open_what_an_entry_changed(pair, dashboard):
    backend, proxy = pair
    rows = [proxy.insert({"text": f"row {number}"}) for number in range(2)]
    proxy.sync()
    for row in rows:
        backend.update(row["id"], {"text": f"{row['text']} of the server"})
        proxy.update(row["id"], {"text": f"{row['text']} of mine"})
    proxy.sync()
    page = dashboard(proxy)
    page.open("conflicts")
    keys = page.page.keyboard
    place = page.page.locator(".position")
    expect(place).to_contain_text("1 of 2")
    keys.press("j")
    expect(place).to_contain_text("2 of 2")
    keys.press("k")
    expect(place).to_contain_text("1 of 2")
    page.open("history")
    entry = page.page.locator(".history li").filter(has=page.page.locator("details"))
    expect(entry.first).to_be_visible()
    entry.first.focus()
    keys.press("Enter")
    expect(entry.first.locator("details")).to_have_attribute("open", "")
