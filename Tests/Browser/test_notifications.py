"""The card on who is told: a test message, and what came back."""

from hostile import HTTPBackend
from playwright.sync_api import expect


def test_a_test_message_shows_what_came_back(start, dashboard):
    answers = [200, 503]
    hook = HTTPBackend(lambda handler, _: handler.answer(answers.pop(0), b"{}"))
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual", "--notify", f"{hook.url}/SECRET")
    page = dashboard(proxy)
    page.open("status")
    card = page.page.locator("section[aria-labelledby=notify-title]")
    expect(card).to_contain_text(hook.url)
    expect(card).to_contain_text("none since the start")
    card.get_by_role("button", name="Send a test").click()
    page.toast(f"{hook.url} answered 200.")
    expect(card).to_contain_text(f"{hook.url} answered 200.")
    card.get_by_role("button", name="Send a test").click()
    expect(card).to_contain_text(f"{hook.url} answered 503.")
    expect(card).not_to_contain_text("SECRET")
    assert [path for _, path, _, _ in hook.requests] == ["/SECRET"] * 2
    hook.shutdown()
