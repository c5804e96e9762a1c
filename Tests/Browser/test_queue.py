"""The queue: causes, filters in the address, bulk actions with a preview, edit and send again."""

import pytest
from playwright.sync_api import expect

REFUSE = {"rules": [{"kind": "status", "status": 400, "methods": ["POST"]}]}


@pytest.fixture
def refused(start):
    """Seven operations that the backend refused for one reason, and one that only waits."""
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.insert({"text": "good"})
    proxy.sync()
    backend.request("PUT", "/-/faults", json=REFUSE)
    for n in range(7):
        proxy.insert({"text": f"refused {n}", "secret": f"payload-{n}"})
    proxy.sync()
    backend.request("PUT", "/-/faults", json={})
    proxy.insert({"text": "elsewhere"}, table="notes")
    return backend, proxy


def rows(page):
    return page.page.locator(".operations li")


def test_causes_filters_and_many_at_once(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    expect(rows(page)).to_have_count(8)
    page.page.get_by_label("Table").select_option("notes")
    expect(rows(page)).to_have_count(1)
    assert "table=notes" in page.page.url
    page.page.get_by_label("Table").select_option("")
    page.page.get_by_label("Search").fill("payload-3")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("refused 3")
    page.page.reload()
    expect(rows(page)).to_have_count(1)
    page.page.get_by_label("Search").fill("")

    page.page.locator(".causes button", has_text="7").click()
    expect(rows(page)).to_have_count(7)
    assert "reason=" in page.page.url
    page.accessible()
    page.page.get_by_role("button", name="Retry all 7").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("7 operations match")
    page.confirm("Cancel")
    expect(rows(page)).to_have_count(7)
    page.page.get_by_role("button", name="Retry all 7").click()
    page.confirm("Try again now")
    page.toast("Done for 7")
    page.sync()
    assert len(backend.all()) == 8


def test_discarding_all_that_match_asks_with_the_count(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue?state=quarantined")
    page.page.get_by_role("button", name="Discard all 7").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("7 operations match")
    page.confirm("Discard")
    page.toast("Done for 7")
    expect(page.page.locator("main")).to_contain_text("Nothing matches")
    assert proxy.status()["queue"]["quarantined"] == 0


def test_selected_ones_are_discarded_and_taken_back(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    for n in (1, 2):
        page.page.get_by_label(f"Select “refused {n}”").check()
    page.page.get_by_role("button", name="Discard 2").click()
    page.confirm("Discard")
    page.toast("Done for 2")
    expect(rows(page)).to_have_count(6)
    page.undo()
    page.toast("2 decisions undone")
    expect(rows(page)).to_have_count(8)


def test_a_refused_operation_is_edited_and_sent_again(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    rows(page).filter(has_text="refused 5").get_by_role("link").click()
    side = page.page.locator(".side")
    expect(side).to_contain_text("400")
    side.get_by_role("button", name="Edit").click()
    field = side.get_by_label("What is sent")
    field.fill('{"text": "refused 5, mended"')
    side.get_by_role("button", name="Save and send again").click()
    page.toast("not valid JSON")
    field.fill('{"text": "refused 5, mended"}')
    page.accessible()
    side.get_by_role("button", name="Save and send again").click()
    page.toast("sent with the next sync")
    page.sync()
    assert "refused 5, mended" in [row["text"] for row in backend.all()]


def test_a_waiting_operation_says_when_it_is_tried_next_and_why(start, dashboard):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    backend.request("PUT", "/-/faults", json={
        "rules": [{"kind": "status", "status": 500, "methods": ["POST"]}]})
    proxy.insert({"text": "trouble"})
    proxy.sync()
    page = dashboard(proxy)
    page.open("queue")
    rows(page).filter(has_text="trouble").get_by_role("link").click()
    side = page.page.locator(".side")
    expect(side).to_contain_text("Next try")
    expect(side).to_contain_text("Why it is here")
    expect(side.locator(".attempts li")).not_to_have_count(0)
    page.page.keyboard.press("r")
    page.toast("tried again now")


def test_an_attempt_shows_the_whole_exchange_without_secrets(start, dashboard):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    backend.request("PUT", "/-/faults", json=REFUSE)
    proxy.insert({"text": "recorded"})
    proxy.sync()
    page = dashboard(proxy)
    page.open("queue")
    rows(page).filter(has_text="recorded").get_by_role("link").click()
    log = page.page.locator(".attempts")
    expect(log.locator("li").first).to_contain_text("Accepted")
    log.get_by_text("Request", exact=True).last.click()
    expect(log).to_contain_text("zumo-api-version: 2.0.0", ignore_case=True)
    expect(log).to_contain_text("idempotency-key:", ignore_case=True)
    expect(log).to_contain_text('"text": "recorded"')
    log.get_by_text("Answer", exact=True).last.click()
    expect(log).to_contain_text("content-type: application/json", ignore_case=True)
    expect(log.locator("li").last).to_contain_text("It waits for you")
    page.accessible()
    # An unfolded row stays unfolded when an event arrives.
    proxy.insert({"text": "news"})
    expect(rows(page).filter(has_text="news")).to_have_count(1)
    expect(log.locator("details[open]")).to_have_count(2)


def test_very_many_are_discarded_part_by_part_stopped_and_taken_back(start, dashboard, many):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    many(proxy, ({"text": f"t{n:04}"} for n in range(1200)))
    page = dashboard(proxy)
    page.open("queue")
    page.page.get_by_role("button", name="Discard all 1,200").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("1,200 operations match")
    # The second part is held back until the work was stopped.
    page.page.route("**/operations/discard*", lambda route: None
                    if '"after":"' in (route.request.post_data or "") else route.continue_())
    page.confirm("Discard")
    work = page.page.get_by_role("dialog")
    expect(work).to_contain_text("500 of 1,200")
    page.accessible()
    work.get_by_role("button", name="Stop").click()
    page.page.unroute("**/operations/discard*")  # The part that was held back goes on.
    page.toast("Done for 1,000")
    expect(page.page.locator(".bulk .count")).to_have_text("200 operations")
    page.undo()
    page.toast("1,000 decisions undone")
    expect(page.page.locator(".bulk .count")).to_have_text("1,200 operations")
    assert len(proxy.all()) == 1200
