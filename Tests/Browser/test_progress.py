"""Long work shows how far it is and can be stopped."""

import re

from playwright.sync_api import expect


def test_a_push_shows_counts_and_can_be_stopped(start, dashboard, many):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    many(proxy, ({"text": f"t{n}"} for n in range(150)))
    backend.request("PUT", "/-/faults", json={
        "rules": [{"kind": "latency", "milliseconds": 300, "methods": ["POST"]}]})
    page = dashboard(proxy)
    page.page.get_by_role("button", name="Sync now").click()
    work = page.page.locator("#connection button.primary")
    expect(work).to_contain_text(re.compile(r"Sending \d+ of 150, .*a second"))
    expect(work).to_contain_text("Stop")
    work.click()
    page.toast("cancelled")
    left = len(proxy.operator("GET", "/operations?limit=500")["items"])
    assert 0 < left < 150
