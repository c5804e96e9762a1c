"""Long work shows its progress and can be stopped."""

import re

from playwright.sync_api import expect


def test_a_push_shows_counts_and_can_be_stopped(start, dashboard, many):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    many(proxy, ({"text": f"t{n}"} for n in range(150)))
    backend.faults({"kind": "latency", "milliseconds": 300, "methods": ["POST"]})
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Sync now").click()
    work = page.page.locator("#connection button.primary")
    width = work.bounding_box()["width"]
    expect(page.page.locator("#connection .run")).to_contain_text(
        re.compile(r"Sending \d+ of 150, .*a second"))
    expect(work).to_have_text("Stop")
    assert work.bounding_box()["width"] == width, "the button keeps its size"
    strip = page.page.get_by_role("progressbar")
    assert strip.bounding_box()["height"] == 3
    expect(strip).to_have_attribute("aria-valuenow", re.compile(r"^[1-9]\d?$"))
    work.click()
    page.toast("cancelled")
    left = len(proxy.operator("GET", "/operations?limit=500")["items"])
    assert 0 < left < 150


def test_a_pull_shows_how_much_there_is_and_how_long_it_takes(start, dashboard, many):
    backend = start.backend("--faults")
    many(backend, ({"text": f"t{n}"} for n in range(600)))
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    backend.faults({"kind": "latency", "milliseconds": 1000, "methods": ["GET"]})
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Sync now").click()
    work = page.page.locator("#connection .run")
    expect(work).to_contain_text(re.compile(r"Receiving todoitem \d+ of 600, .*a second, \d+ s left"))
    page.accessible()
    backend.faults()
    page.toast("600 rows received")


def test_work_that_somebody_else_started_is_shown_and_can_be_stopped(start, dashboard, many):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    many(proxy, ({"text": f"t{n}"} for n in range(100)))
    backend.faults({"kind": "latency", "milliseconds": 300, "methods": ["POST"]})
    page = dashboard(proxy)
    run = proxy.operator("POST", "/push?wait=0", expect=202, json={})
    work = page.page.locator("#connection button.primary")
    expect(page.page.locator("#connection .run")).to_contain_text(re.compile(r"Sending \d+ of 100"))
    work.click()
    expect(work).to_have_text("Sync now")
    assert proxy.operator("GET", f"/runs/{run['id']}")["state"] == "cancelled"
