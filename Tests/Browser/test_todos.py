"""The todos: every button works, also with the backend down, and also by keyboard."""

from programs import wait_until
from playwright.sync_api import expect


def test_todos_are_added_edited_completed_and_deleted_with_the_backend_down(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    page = dashboard(proxy)
    expect(page.page.locator(".pill")).to_have_text("Offline")
    page.add("Buy milk")
    page.add("Buy bread")
    expect(page.todo("Buy milk")).to_contain_text("on this device")
    expect(page.page.locator(".loud")).to_contain_text("only on this device")
    page.edit("Buy milk", "Buy oat milk")
    page.page.get_by_label("Complete “Buy bread”").check()
    expect(page.todo("Buy bread")).to_have_class("done")
    page.page.get_by_role("button", name="Delete “Buy oat milk”").click()
    expect(page.todo("Buy oat milk")).to_have_count(0)
    page.page.get_by_role("button", name="Undo").click()
    expect(page.todo("Buy oat milk")).to_have_count(1)
    rows = {row["text"]: row["complete"] for row in proxy.all()}
    assert rows == {"Buy oat milk": False, "Buy bread": True}


def test_completed_todos_can_be_hidden_and_stay_hidden_after_a_reload(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.insert({"text": "open", "complete": False})
    proxy.insert({"text": "finished", "complete": True})
    page = dashboard(proxy)
    expect(page.todo("finished")).to_have_count(1)
    page.page.get_by_role("button", name="Active").click()
    expect(page.todo("finished")).to_have_count(0)
    page.page.reload()
    expect(page.todo("open")).to_have_count(1)
    expect(page.todo("finished")).to_have_count(0)
    page.page.get_by_role("button", name="Completed").click()
    expect(page.todo("finished")).to_have_count(1)
    expect(page.todo("open")).to_have_count(0)


def test_escape_leaves_an_edit_without_changing_anything(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    item = proxy.insert({"text": "as it was"})
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Edit “as it was”").click()
    page.page.get_by_label("Todo text").fill("something else")
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("button", name="Edit “as it was”")).to_be_focused()
    assert proxy.get(item["id"]).json()["text"] == "as it was"


def test_everything_about_a_todo_works_by_keyboard(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    page = dashboard(proxy)
    keys = page.page.keyboard
    page.page.get_by_label("What needs doing?").focus()
    keys.type("by keyboard")
    keys.press("Enter")
    expect(page.todo("by keyboard")).to_have_count(1)
    page.page.get_by_label("Complete “by keyboard”").focus()
    keys.press("Space")
    expect(page.todo("by keyboard")).to_have_class("done")
    keys.press("Tab")
    keys.press("Enter")
    keys.type("typed over")
    keys.press("Enter")
    expect(page.todo("typed over")).to_have_count(1)
    expect(page.page.get_by_role("button", name="Edit “typed over”")).to_be_focused()


def test_another_clients_write_and_its_way_to_the_server_appear_live(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url)
    page = dashboard(proxy)
    expect(page.page.locator(".pill")).to_have_text("Online")
    item = proxy.insert({"text": "from elsewhere"})
    expect(page.todo("from elsewhere")).to_have_count(1)
    expect(page.todo("from elsewhere")).to_contain_text("on the server")
    assert backend.get(item["id"]).status_code == 200


def test_a_half_typed_edit_survives_news_from_elsewhere(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.insert({"text": "mine"})
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Edit “mine”").click()
    page.page.get_by_label("Todo text").fill("half typed")
    proxy.insert({"text": "news"})
    expect(page.todo("news")).to_have_count(1)
    expect(page.page.get_by_label("Todo text")).to_have_value("half typed")
    expect(page.page.get_by_label("Todo text")).to_be_focused()


def test_a_script_in_a_todo_is_shown_and_never_run(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.insert({"text": "<img src=x onerror=\"document.title='owned'\"><script>1</script>"})
    page = dashboard(proxy)
    expect(page.todo("<img src=x")).to_have_count(1)
    assert "owned" not in page.page.title()


def test_the_page_says_when_understudy_is_gone_and_recovers_by_itself(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    page = dashboard(proxy)
    page.add("before")
    proxy.program.kill()
    expect(page.page.locator("#notice")).to_contain_text("lost its connection")
    proxy.start()
    expect(page.page.locator("#notice")).to_be_empty(timeout=15_000)
    page.add("after")
    wait_until(lambda: len(proxy.all()) == 2)
