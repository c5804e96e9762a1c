"""One number has one meaning and leads to one place; what became of changes is said with their cause."""

import pytest
from playwright.sync_api import expect

REFUSE = {"kind": "status", "status": 400, "methods": ["POST"]}
REFUSED_AGAIN = "The backend refused it with 400"


def stick(backend, proxy):
    """Makes three changes that the backend refuses, and two conflicts."""
    for id in "ab":
        backend.insert({"id": id, "text": "base"})
    proxy.sync()
    for id in "ab":
        proxy.update(id, {"text": "mine"})
        backend.update(id, {"text": "theirs"})
    backend.faults(REFUSE)
    for n in range(3):
        proxy.insert({"text": f"refused {n}"})
    proxy.sync()
    queue = proxy.status()["queue"]
    assert (queue["conflict"], queue["quarantined"]) == (2, 3)


@pytest.fixture
def stuck(pair):
    stick(*pair)
    return pair


def detail(page):
    return page.page.locator("#connection .detail")


def rows(page):
    return page.page.locator(".operations li")


def test_the_number_that_needs_a_decision_leads_to_so_many_rows(stuck, dashboard):
    _, proxy = stuck
    page = dashboard(proxy)
    expect(detail(page)).to_contain_text("5 changes need a decision · 5 unsent in all")
    page.page.get_by_role("link", name="5 changes need a decision").click()
    expect(rows(page)).to_have_count(5)
    states = page.page.get_by_role("navigation", name="State")
    expect(states.locator("[aria-current]")).to_have_text("needs a decision5")
    expect(page.page.locator(".bulk .count")).to_have_text("5 operations")
    page.accessible()
    page.screenshot("queue-needs-a-decision")
    proxy.insert({"text": "waits"})
    expect(detail(page)).to_contain_text("5 changes need a decision · 6 unsent in all")
    expect(rows(page)).to_have_count(5)
    expect(states.get_by_role("link", name="Open")).to_have_text("Open6")
    page.page.get_by_role("link", name="6 unsent in all").click()
    expect(rows(page)).to_have_count(6)


def test_the_counts_beside_the_queue_are_those_of_the_line_at_the_top(start, dashboard):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    stick(backend, proxy)
    page = dashboard(proxy)
    page.open("queue")
    states = page.page.get_by_role("navigation", name="State")
    for conflict in proxy.operator("GET", "/conflicts")["items"]:
        choice = {"revision": conflict["revision"], "choice": "server"}
        proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=choice)
    expect(detail(page)).to_contain_text("3 changes need a decision · 3 unsent in all")
    for name, count in (("Open", 3), ("needs a decision", 3), ("conflict", 0), ("refused", 3)):
        expect(states.get_by_role("link", name=name, exact=False).first).to_have_text(f"{name}{count}")
    expect(page.page.locator(".ledger")).to_contain_text("2 discarded + 3 open")


def test_where_all_that_need_a_decision_are_conflicts_the_link_leads_to_them(stuck, dashboard):
    backend, proxy = stuck
    backend.faults()
    proxy.operator("POST", "/operations/retry", json={"filter": {"state": ["quarantined"]}})
    proxy.sync()
    page = dashboard(proxy)
    page.page.get_by_role("link", name="2 changes need a decision").click()
    expect(page.page.locator(".position")).to_have_text("1 of 2")


def test_no_message_says_synced_while_something_needs_a_decision(stuck, dashboard):
    _, proxy = stuck
    page = dashboard(proxy)
    page.sync()
    page.toast("Synced, but 5 changes need a decision.")
    page.open("tables/todoitem")
    page.page.get_by_role("button", name="Pull", exact=True).click()
    page.toast("Synced, but 5 changes need a decision.")


def test_what_became_of_a_retry_is_said_with_its_cause(stuck, dashboard):
    backend, proxy = stuck
    page = dashboard(proxy)
    page.open("queue?state=quarantined")
    page.page.get_by_role("button", name="Retry all 3").click()
    page.confirm("Retry")
    page.toast("3 queued for retry")
    # The real reason stays beside who tries it again.
    page.open("queue?state=queued")
    cause = page.page.locator(".causes .cause a")
    expect(cause).to_have_attribute("title", f"Tried again by a person. Before: {REFUSED_AGAIN}.")
    page.page.locator("#connection").get_by_role("button", name="Sync now").click()
    page.toast(f"All 3 refused again: {REFUSED_AGAIN}")
    page.page.locator("#toast").get_by_role("link", name="Show them").click()
    expect(rows(page)).to_have_count(3)
    backend.faults()
    page.page.get_by_role("button", name="Retry all 3").click()
    page.confirm("Retry")
    page.open("todos")  # It is said in every view.
    page.page.locator("#connection").get_by_role("button", name="Sync now").click()
    page.toast("All 3 changes sent.")


def test_one_retry_says_what_became_of_it_where_changes_are_sent_at_once(start, dashboard):
    backend = start.backend("--faults")
    backend.faults(REFUSE)
    proxy = start.proxy(backend.url)
    proxy.insert({"id": "r", "text": "refused"})
    page = dashboard(proxy)
    page.open("queue?state=quarantined")
    rows(page).get_by_role("link").click()
    page.page.locator(".side").get_by_role("button", name="Retry").click()
    page.toast(f"1 refused again: {REFUSED_AGAIN}")
