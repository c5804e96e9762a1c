"""The line at the top says what is true: in reach or not, sent or not, answering or not."""

import re
import time

from playwright.sync_api import expect


def pill(page):
    return page.page.locator("#connection .pill")


def detail(page):
    return page.page.locator("#connection .detail")


def test_nothing_is_claimed_before_the_first_sync(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    page = dashboard(proxy)
    expect(pill(page)).to_have_text("Not contacted yet")
    expect(detail(page)).to_have_text("No unsent changes · not synced yet")
    page.sync()
    expect(pill(page)).to_have_text("Connected")
    expect(detail(page)).to_contain_text("Everything is on the server")


def test_understudy_that_has_stopped_claims_nothing(pair, dashboard):
    _, proxy = pair
    proxy.sync()
    page = dashboard(proxy)
    expect(detail(page)).to_contain_text("Everything is on the server")
    proxy.program.kill()
    expect(pill(page)).to_have_text("Understudy has stopped")
    expect(detail(page)).not_to_contain_text("Everything is on the server")
    expect(detail(page)).to_contain_text("last answer")
    expect(page.page.locator("#connection")).to_have_class(re.compile("stale"))
    page.accessible()
    proxy.start()
    expect(pill(page)).not_to_have_text("Understudy has stopped", timeout=15_000)
    expect(page.page.locator("#connection")).not_to_have_class(re.compile("stale"))


def test_a_backend_out_of_reach_is_named_with_the_reason_and_the_next_try(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    page = dashboard(proxy)
    page.sync()
    page.toast("Cannot reach the backend")
    expect(pill(page)).to_have_text("Cannot reach the backend")
    expect(detail(page)).to_contain_text("connect")
    expect(detail(page)).to_contain_text("next try")
    expect(detail(page)).not_to_contain_text("Everything is on the server")


def test_a_pull_under_way_shows_that_the_backend_is_in_reach(start, dashboard, many):
    """Also one that the page did not start, before the engine has judged the run."""
    backend = start.backend("--faults")
    many(backend, ({"text": f"t{n}"} for n in range(600)))
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    backend.faults({"kind": "latency", "milliseconds": 1500, "methods": ["GET"]})
    page = dashboard(proxy)
    proxy.operator("POST", "/sync?wait=0", expect=202, json={})
    work = page.page.locator("#connection .run")
    expect(work).to_contain_text(re.compile(r"Receiving todoitem [\d,]+ of 600"))
    expect(pill(page)).to_have_text("Connected")
    backend.faults()


def test_conflicts_count_as_unsent_and_the_figures_agree(pair, dashboard):
    backend, proxy = pair
    for id in "abc":
        backend.insert({"id": id, "text": "base"})
    proxy.sync()
    for id in "abc":
        proxy.update(id, {"text": "mine"})
        backend.update(id, {"text": "theirs"})
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Sync now").click()
    page.toast("Synced, but 3 changes need a decision.")
    proxy.insert({"text": "one more"})
    expect(detail(page)).to_contain_text("3 changes need a decision · 4 unsent in all")
    expect(page.page.locator("#badge-queue")).to_have_text("4")
    page.page.get_by_role("link", name="4 unsent in all").click()
    expect(page.page.locator(".operations li")).to_have_count(4)
    page.page.get_by_role("button", name="Work offline").click()
    page.page.get_by_role("button", name="Go online").click()
    page.toast("Working online again. 1 change goes out with the next sync. 3 changes need a decision.")


def test_sync_now_while_working_offline_says_so_at_once(pair, dashboard):
    _, proxy = pair
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Work offline").click()
    expect(pill(page)).to_have_text("Working offline")
    page.page.get_by_role("button", name="Sync now").click()
    page.toast("Working offline: nothing is sent")
    page.page.keyboard.press("u")  # What the message offers is no undo.
    page.toast("There is nothing to undo")
    expect(pill(page)).to_have_text("Working offline")
    page.page.get_by_role("button", name="Sync now").click()
    page.page.locator("#toast").get_by_role("button", name="Go online").click()
    expect(pill(page)).not_to_have_text("Working offline")


def test_a_retry_says_that_it_is_queued_and_offers_the_sync(pair, dashboard):
    backend, proxy = pair
    backend.faults({"kind": "status", "status": 400, "methods": ["POST"]})
    for n in range(3):
        proxy.insert({"text": f"refused {n}"})
    proxy.sync()
    backend.faults()
    page = dashboard(proxy)
    page.open("queue?state=quarantined")
    page.page.get_by_role("button", name="Retry all 3").click()
    page.confirm("Retry")
    page.toast("3 queued for retry")
    assert backend.all() == [], "a retry alone sends nothing where sync is manual"
    page.page.locator("#toast").get_by_role("button", name="Sync now").click()
    page.toast("3 changes sent")
    assert len(backend.all()) == 3


def test_an_open_page_makes_few_requests_during_a_push(start, dashboard, many):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    many(proxy, ({"text": f"t{n}"} for n in range(1500)))
    backend.faults({"kind": "latency", "milliseconds": 30, "methods": ["POST"]})
    page = dashboard(proxy)
    page.open("queue")
    expect(page.page.locator(".operations li").first).to_be_visible()
    run = proxy.operator("POST", "/push?wait=0", expect=202, json={})
    # When the run was asked for three times, what opening the page asks for is over.
    for _ in range(3):
        page.page.wait_for_event("request", lambda request: request.url.endswith(f"/runs/{run['id']}"))
    paths = []
    page.page.on("request", lambda request: paths.append(request.url.split("?")[0].rsplit("/", 1)[1]))
    began = time.monotonic()
    page.page.wait_for_timeout(8000)  # The time over which the rates are measured.
    seconds = time.monotonic() - began
    proxy.operator("POST", f"/runs/{run['id']}/cancel", json={})
    rates = {path: paths.count(path) / seconds for path in sorted(set(paths))}
    print("requests a second:", {path: f"{rate:.1f}" for path, rate in rates.items()})
    line = {path: rate for path, rate in rates.items() if path == "status" or path == run["id"]}
    assert run["id"] in line, "the page follows the push"
    assert max(line.values()) <= 2.3, "two a second for each request of the line at the top"
    assert sum(rates.values()) - sum(line.values()) <= 2.3, "two a second for the view"
