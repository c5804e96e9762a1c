"""Seed 002 played by a person: edit offline, another client edits too, sync, decide."""

import pytest
from playwright.sync_api import expect


def play_until_the_conflict(pair, dashboard):
    backend, proxy = pair
    backend.insert({"id": "eggs", "text": "Buy eggs", "complete": False})
    proxy.sync()
    page = dashboard(proxy)
    expect(page.todo("Buy eggs")).to_contain_text("on the server")

    backend.stop()
    page.edit("Buy eggs", "Buy eggs (6)")
    expect(page.todo("Buy eggs (6)")).to_contain_text("on this device")
    backend.start()
    backend.update("eggs", {"text": "Buy organic eggs"})

    page.sync()
    expect(page.todo("Buy eggs (6)")).to_contain_text("needs a decision")
    page.todo("Buy eggs (6)").get_by_role("link", name="needs a decision").click()
    card = page.page.locator(".conflict")
    expect(card).to_contain_text("was changed on both sides")
    expect(card.locator(".version .value")).to_have_text(["Buy eggs (6)", "Buy organic eggs"])
    expect(card.locator(".agreed")).to_have_text("Last agreed: Buy eggs")
    return backend, proxy, page


def holds(backend, proxy, text):
    assert backend.get("eggs").json()["text"] == text
    assert proxy.get("eggs").json()["text"] == text
    assert proxy.get("eggs").headers["Understudy-State"] == "synced"
    assert proxy.operator("GET", "/conflicts")["total"] == 0


@pytest.mark.parametrize(
    "button, text",
    [("Keep yours", "Buy eggs (6)"), ("Keep the server’s", "Buy organic eggs")],
)
def test_one_side_is_kept(pair, dashboard, button, text):
    backend, proxy, page = play_until_the_conflict(pair, dashboard)
    page.page.get_by_role("button", name=button, exact=True).click()
    page.all_decided()
    page.sync()
    holds(backend, proxy, text)
    page.open("todos")
    expect(page.todo(text)).to_contain_text("on the server")


def test_both_are_kept_as_two_todos(pair, dashboard):
    backend, proxy, page = play_until_the_conflict(pair, dashboard)
    page.page.get_by_role("button", name="Keep both").click()
    page.all_decided()
    page.sync()
    assert sorted(row["text"] for row in backend.all()) == ["Buy eggs (6)", "Buy organic eggs"]


def test_cancel_leaves_it_pending(pair, dashboard):
    backend, proxy, page = play_until_the_conflict(pair, dashboard)
    page.page.get_by_role("link", name="Not now").click()
    expect(page.todo("Buy eggs (6)")).to_contain_text("needs a decision")
    page.sync()
    assert backend.get("eggs").json()["text"] == "Buy organic eggs"
    assert proxy.operator("GET", "/conflicts")["total"] == 1


def test_it_comes_back_when_the_server_changes_before_the_choice_arrives(pair, dashboard):
    backend, proxy, page = play_until_the_conflict(pair, dashboard)
    page.page.get_by_role("button", name="Keep yours", exact=True).click()
    page.all_decided()
    backend.update("eggs", {"text": "Buy free-range eggs"})
    page.sync()
    page.open("conflicts")
    expect(page.page.locator(".conflict")).to_contain_text("Buy free-range eggs")
    page.page.get_by_role("button", name="Keep yours", exact=True).click()
    page.all_decided()
    page.sync()
    holds(backend, proxy, "Buy eggs (6)")
