"""Client addresses and browser sessions on the dashboard, and the todos where /tables is closed."""

import requests
from playwright.sync_api import expect
from programs import ZUMO


def test_an_address_is_made_shown_once_and_revoked(start, dashboard):
    proxy = start.proxy(start.backend().url, "--tables-access", "capability")
    board = dashboard(proxy)
    page = board.open("status")
    card = page.locator("section.card").filter(has_text="Addresses of clients")
    card.get_by_label("Name of the client").fill("phone")
    card.get_by_role("button", name="Make an address").click()
    url = card.locator("pre").inner_text()
    assert url.startswith(f"{proxy.url}/c/")
    made = requests.post(url + "/tables/todoitem", json={"text": "from the phone"}, headers=ZUMO, timeout=10)
    assert made.status_code == 201
    board.accessible()
    board.no_overflow("the status with its addresses")

    page = board.open("history")
    expect(page.locator("main")).to_contain_text("phone")
    page = board.open("status")
    card = page.locator("section.card").filter(has_text="Addresses of clients")
    expect(card.locator("pre")).to_have_count(0)
    card.get_by_role("button", name="Revoke phone").click()
    board.confirm("Revoke phone")
    board.toast("phone is revoked")
    expect(card).to_contain_text("No client has an address of its own.")
    assert requests.get(url + "/tables/todoitem", headers=ZUMO, timeout=10).status_code == 401


def test_another_browser_is_signed_out(start, dashboard):
    proxy = start.proxy(start.backend().url)
    first = dashboard(proxy)
    link = proxy.operator("POST", "/links", expect=201, json={})["url"].split("#link=")[1]
    requests.post(proxy.url + "/-/api/v1/session", json={"link": link}, headers={"User-Agent": "Other"}, timeout=10)
    card = first.open("status").locator("section.card").filter(has_text="Addresses of clients")
    row = card.get_by_role("listitem").filter(has_text="Other")
    row.get_by_role("button", name="Sign out").click()
    first.toast("signed out")
    expect(row).to_have_count(0)
    expect(card.get_by_role("listitem").filter(has_text="this one")).to_have_count(1)


def test_the_dashboard_writes_todos_where_plain_tables_is_shut(start, dashboard):
    proxy = start.proxy(start.backend().url, "--tables-access", "capability", "--sync", "manual")
    assert proxy.request("GET", "/tables/todoitem").status_code == 401
    board = dashboard(proxy)
    board.open("todos")
    board.add("written by hand")
    board.edit("written by hand", "written by hand, twice")
