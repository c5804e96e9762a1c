"""The todos: every button works, also with the backend down, and also by keyboard."""

from programs import wait_until
from playwright.sync_api import expect


def test_todos_are_added_edited_completed_and_deleted_with_the_backend_down(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    page = dashboard(proxy)
    expect(page.page.locator(".pill")).to_have_text("Cannot reach the backend")
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


def test_completed_todos_can_be_hidden_and_stay_hidden_after_a_reload(alone, dashboard):
    alone.insert({"text": "open", "complete": False})
    alone.insert({"text": "finished", "complete": True})
    page = dashboard(alone)
    expect(page.todo("finished")).to_have_count(1)
    page.page.get_by_role("button", name="Active").click()
    expect(page.todo("finished")).to_have_count(0)
    page.page.reload()
    expect(page.todo("open")).to_have_count(1)
    expect(page.todo("finished")).to_have_count(0)
    page.page.get_by_role("button", name="Completed").click()
    expect(page.todo("finished")).to_have_count(1)
    expect(page.todo("open")).to_have_count(0)


def test_the_day_that_a_todo_is_due_is_shown_and_sorts(alone, dashboard):
    for text, due in [("later", "2031-05-06T00:00:00.000Z"), ("never", None),
                      ("sooner", "2030-01-02T00:00:00.000Z")]:
        alone.insert({"text": text, "complete": False, "dueAt": due})
    page = dashboard(alone, locale="en-GB", timezone_id="UTC")
    expect(page.todo("sooner")).to_contain_text("due 2 Jan 2030")
    expect(page.todo("never").locator(".due")).to_be_hidden()
    page.page.get_by_label("Sort by").select_option("due")
    texts = page.page.locator(".todos .text")
    expect(texts).to_have_text(["sooner", "later", "never"])
    page.page.reload()
    expect(texts).to_have_text(["sooner", "later", "never"])


def test_a_column_due_orders_as_well(alone, dashboard):
    for text, due in [("later", "2031-01-02"), ("sooner", "2030-01-01"), ("last", "2032-01-01")]:
        alone.insert({"text": text, "complete": False, "due": due})
    page = dashboard(alone)
    expect(page.page.locator(".todos li")).to_have_count(3)
    page.page.get_by_label("Sort by").select_option("due")
    expect(page.page.locator(".todos .text")).to_have_text(["sooner", "later", "last"])


def test_only_what_is_not_on_the_server_is_marked(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.insert({"text": "sent"})
    proxy.sync()
    proxy.insert({"text": "not sent"})
    page = dashboard(proxy)
    width = "one => one.getBoundingClientRect().width"
    assert page.page.locator(".todos .where.synced").evaluate(width) <= 1
    assert page.page.locator(".todos .where.pending").evaluate(width) > 20


def test_a_very_long_todo_is_clamped_and_a_text_has_its_own_direction(alone, dashboard):
    alone.insert({"text": "A todo without end. " * 85})
    alone.insert({"text": "שלום עולם"})
    page = dashboard(alone)
    long = page.todo("without end")
    assert long.evaluate("one => one.getBoundingClientRect().height") < 120
    assert page.page.get_by_role("button", name="Edit “שלום עולם”").evaluate(
        "one => getComputedStyle(one).direction") == "rtl"


def test_what_the_dashboard_writes_is_logged_as_the_persons(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    page = dashboard(proxy)
    page.add("by the dashboard")
    proxy.insert({"text": "by a client"})
    actors = {entry["after"]["text"]: entry["actor"]
              for entry in proxy.operator("GET", "/history")["items"] if entry["kind"] == "write"}
    assert actors == {"by the dashboard": "person", "by a client": "client"}


def test_escape_leaves_an_edit_without_changing_anything(alone, dashboard):
    item = alone.insert({"text": "as it was"})
    page = dashboard(alone)
    page.page.get_by_role("button", name="Edit “as it was”").click()
    page.page.get_by_label("Todo text").fill("something else")
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("button", name="Edit “as it was”")).to_be_focused()
    assert alone.get(item["id"]).json()["text"] == "as it was"


def test_everything_about_a_todo_works_by_keyboard(alone, dashboard):
    page = dashboard(alone)
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
    expect(page.page.locator(".pill")).to_have_text("Connected")
    item = proxy.insert({"text": "from elsewhere"})
    expect(page.todo("from elsewhere")).to_have_count(1)
    expect(page.todo("from elsewhere")).to_contain_text("on the server")
    assert backend.get(item["id"]).status_code == 200


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
