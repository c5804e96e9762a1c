"""The operator sees what waits and why, and each attempt, and uses the two switches."""

from playwright.sync_api import expect


def test_the_queue_shows_each_operation_with_its_attempts(pair, dashboard):
    backend, proxy = pair
    proxy.insert({"text": "good"})
    proxy.sync()
    backend.faults({"kind": "status", "status": 400, "methods": ["POST"]})
    proxy.insert({"text": "refused by the backend"})
    page = dashboard(proxy)
    page.sync()
    page.page.get_by_role("link", name="Queue").click()
    row = page.page.locator(".operations li").filter(has_text="refused by the backend")
    expect(row).to_contain_text("refused")
    row.get_by_role("link").click()
    detail = page.page.locator(".side")
    expect(detail).to_contain_text("POST /tables/todoitem")
    expect(detail).to_contain_text("400")
    page.accessible()
    page.screenshot("queue-detail-1280-light")

    backend.faults()
    detail.get_by_role("button", name="Retry").click()
    page.sync()
    expect(page.page.locator("main")).to_contain_text("everything is on the server")
    assert len(backend.all()) == 2


def test_an_operation_can_be_discarded_and_the_history_undoes_it(pair, dashboard):
    backend, proxy = pair
    backend.insert({"id": "a", "text": "the server's text"})
    proxy.sync()
    proxy.update("a", {"text": "a mistake"})
    page = dashboard(proxy)
    page.open("queue")
    page.page.locator(".operations li").filter(has_text="a mistake").get_by_role("link").click()
    page.page.locator(".side").get_by_role("button", name="Discard").click()
    page.confirm("Discard 1 unsent change")
    expect(page.page.locator("main")).to_contain_text("everything is on the server")
    page.toast("Discarded")
    assert proxy.get("a").json()["text"] == "the server's text"

    page.page.get_by_role("link", name="History").click()
    entry = page.page.locator(".history li").filter(has_text="iscard").first
    entry.get_by_role("button", name="Undo").click()
    page.page.get_by_role("link", name="Todos").click()
    expect(page.todo("a mistake")).to_have_count(1)


def test_working_offline_by_choice_holds_the_queue_until_going_online(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url)
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Work offline").click()
    expect(page.page.locator(".pill")).to_have_text("Working offline")
    page.add("not yet")
    assert backend.all() == []
    page.page.get_by_role("button", name="Go online").click()
    expect(page.todo("not yet")).to_contain_text("on the server")
    assert len(backend.all()) == 1


def test_without_the_link_the_page_says_how_to_get_one(pair, chromium):
    _, proxy = pair
    page = chromium.new_page()
    page.goto(proxy.url + "/-/")
    expect(page.locator("main")).to_contain_text("understudy open")
    page.close()


def test_the_link_works_once(pair, chromium):
    _, proxy = pair
    link = proxy.operator("POST", "/links", expect=201, json={})["url"]
    first, second = chromium.new_context(), chromium.new_context()
    page = first.new_page()
    page.goto(link)
    expect(page.get_by_label("What needs doing?")).to_be_visible()
    assert "link=" not in page.url
    again = second.new_page()
    again.goto(link)
    expect(again.locator("main")).to_contain_text("understudy open")
    first.close()
    second.close()


def test_a_read_only_link_shows_all_and_offers_no_change(pair, chromium):
    backend, proxy = pair
    proxy.insert({"id": "a", "text": "to be seen"})
    link = proxy.operator("POST", "/links", expect=201, json={"isReadOnly": True})["url"]
    context = chromium.new_context()
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_text("Read only", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("to be seen")
    expect(page.locator("main")).to_contain_text("signed in to look")
    expect(page.get_by_label("What needs doing?")).to_have_count(0)
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator("#toast")).to_contain_text("This sign-in may only look")
    page.get_by_role("link", name="Queue").click()
    expect(page.locator(".operations li")).to_have_count(1)
    assert backend.all() == []
    context.close()
