"""Every search finds what is on screen: a text in any column of a table, who did it in the history."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def patients(start):
    backend = start.backend()
    for id, name, room in (("a", "Moreau, Lucie", 12), ("b", "Dupont, Jean", 7), ("c", "MOREAU-Petit, Zoë", 3)):
        backend.insert({"id": id, "name": name, "room": room, "note": None}, "patient")
    proxy = start.proxy(backend.url, "--table", "patient", "--sync", "manual")
    proxy.sync()
    return proxy


def test_a_text_in_the_filter_of_a_table_is_searched_for(patients, dashboard):
    page = dashboard(patients)
    page.open("tables/patient")
    rows = page.page.locator(".grid tbody tr")
    expect(rows).to_have_count(3)
    field = page.page.get_by_label("Text or OData filter")

    def filter_by(text):
        field.fill(text)
        field.press("Enter")

    filter_by("moreau")
    expect(rows).to_have_count(2)
    expect(rows).to_contain_text(["Moreau, Lucie", "MOREAU-Petit, Zoë"])
    filter_by("Moreau, Lucie")
    expect(rows).to_have_count(1)
    filter_by("zoë")
    expect(rows).to_have_count(1)
    filter_by("O'Neill (2)")
    expect(rows).to_have_count(0)
    expect(page.page.locator("#filter-error")).to_be_hidden()
    filter_by("room gt 5")
    expect(rows).to_have_count(2)
    filter_by("Moreau")
    expect(rows).to_have_count(2)
    # No rows are removed by such a search.
    page.page.get_by_role("button", name="Remove from this device").click()
    page.toast("Rows that a text was searched for are not removed")
    page.accessible()
    page.page.reload()
    expect(rows).to_have_count(2)


def test_the_history_finds_who_did_it_and_what_happened(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    address = proxy.operator("POST", "/access", expect=201, json={"name": "desk-ana"})["url"]
    proxy.insert({"text": "of no name"})
    proxy.request("POST", address.removeprefix(proxy.url) + "/tables/todoitem", json={"text": "of Ana"})
    page = dashboard(proxy)
    page.open("history")
    entries = page.page.locator(".history li")
    expect(entries).to_have_count(2)
    expect(entries.filter(has_text="of Ana")).to_contain_text("desk-ana")
    field = page.page.get_by_label("Search the history")
    for text, found in (("desk-ana", ["of Ana"]), ("a client", ["of no name"]), ("written", ["of Ana", "of no name"])):
        field.fill(text)
        expect(entries).to_have_count(len(found))
        expect(entries).to_contain_text(found)
    proxy.sync()
    field.fill("understudy")
    expect(page.page.locator("main .count")).not_to_have_text("0 entries")
    expect(entries.first).to_contain_text("Understudy")
    field.fill("nobody-of-that-name")
    expect(page.page.locator("main")).to_contain_text("Nothing matches")
