"""The choice of the identity whose rows are shown: one for the whole page, in its address."""

import re

import pytest
from playwright.sync_api import expect
from programs import sign_in


@pytest.fixture
def world(start):
    """Ana signed in through the proxy; then the backend went away and she continued to work."""
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url, "--sync", "manual")
    ana = sign_in(proxy, "ana")
    ana.insert({"text": "of ana", "complete": False})
    proxy.insert({"title": "of nobody"}, table="notes")
    return backend, proxy


def test_the_rows_and_the_queue_of_a_sign_in_are_shown_when_chosen(world, dashboard):
    backend, proxy = world
    page = dashboard(proxy)
    page.open("queue")
    expect(page.page.locator(".operations li")).to_have_text([re.compile("of nobody")])
    page.page.get_by_label("Whose rows are shown").select_option(index=1)
    expect(page.page.locator(".operations li")).to_have_text([re.compile("of ana")])
    assert "identity=" in page.page.url and page.page.url.endswith("#/queue")
    page.accessible()

    page.page.get_by_role("link", name="Todos").click()
    expect(page.todo("of ana")).to_contain_text("on this device")
    expect(page.page.locator("main")).to_contain_text("here they can be looked at")
    expect(page.page.get_by_label("Complete “of ana”")).to_be_disabled()
    expect(page.page.get_by_role("button", name="Delete “of ana”")).to_have_count(0)
    page.accessible()
    page.screenshot("todos-of-another-1280-light")

    page.page.get_by_role("link", name="Tables").click()
    page.page.locator(".grid [data-open]").first.click()
    expect(page.page.locator(".side")).to_contain_text("here they can be looked at")
    expect(page.page.get_by_role("button", name="Save")).to_have_count(0)

    page.page.get_by_role("link", name="Queue").click()
    page.page.locator(".operations [data-open]").click()
    page.page.locator(".side").get_by_role("button", name="Discard").click()
    page.confirm("Discard 1 unsent change")
    page.toast("Discarded")
    expect(page.page.locator("main")).to_contain_text("everything is on the server")
    page.page.get_by_label("Whose rows are shown").select_option("anonymous")
    expect(page.page.locator(".operations li")).to_have_text([re.compile("of nobody")])
    assert "identity=" not in page.page.url


def test_news_of_the_chosen_sign_in_arrive_live(world, dashboard):
    backend, proxy = world
    page = dashboard(proxy)
    page.page.get_by_label("Whose rows are shown").select_option(index=1)
    expect(page.todo("of ana")).to_have_count(1)
    sign_in(proxy, "ana").insert({"text": "a second one"})
    expect(page.todo("a second one")).to_have_count(1)
    page.sync()
    expect(page.todo("a second one")).to_contain_text("on the server")
