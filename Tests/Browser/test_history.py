"""The history: what happened while the person was away, what changed, undo, and the charts."""

import sqlite3
import time

from playwright.sync_api import expect


def test_what_happened_while_the_page_was_away_and_undo(start, dashboard):
    backend = start.backend()
    backend.insert({"id": "a", "text": "as it was"})
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    proxy.insert({"text": "seen before"})
    page = dashboard(proxy)
    page.open("history")
    expect(page.page.locator(".history li").first).to_be_visible()
    page.open("todos")
    proxy.update("a", {"text": "a mistake"})
    proxy.insert({"text": "another"})
    page.open("history")
    expect(page.page.locator(".away")).to_contain_text("While you were away")
    expect(page.page.locator(".away")).to_contain_text("2 written")
    entry = page.page.locator(".history li").filter(has_text="a mistake").first
    entry.get_by_text("What changed").click()
    expect(entry).to_contain_text("as it was → a mistake")
    page.accessible()
    entry.get_by_role("button", name="Undo").click()
    page.toast("Undone")
    assert proxy.get("a").json()["text"] == "as it was"


def test_the_charts_are_drawn_from_the_samples(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"text": "one"})
    now = int(time.time()) // 60 * 60_000
    with sqlite3.connect(next(proxy.folder.glob("stores/*/store.sqlite"))) as store:
        store.executemany(
            "INSERT INTO samples(at, depth, succeeded, failed, latency_ms) VALUES (?, ?, ?, ?, ?)",
            [(now - (60 - n) * 60_000, n % 7, n % 5, n % 3, None if n % 4 else 10 * n)
             for n in range(60)])
    page = dashboard(proxy)
    page.open("history")
    expect(page.page.locator("svg[role=img]")).to_have_count(3)
    expect(page.page.get_by_role("img", name="Unsent changes: now 3, most 6")).to_be_visible()
    expect(page.page.get_by_role("img", name="Requests to the backend: 120 succeeded, 60 failed")).to_be_visible()
    page.accessible()
    page.screenshot("charts-1280-light")


def test_the_history_goes_back_page_by_page(start, dashboard, many):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    many(proxy, ({"text": f"t{n:03}"} for n in range(650)))
    page = dashboard(proxy)
    page.open("history")
    entries = page.page.locator(".history li")
    expect(entries).to_have_count(100)
    for count in (200, 300, 400, 500, 600, 650):
        page.page.get_by_role("button", name="Show more").click()
        expect(entries).to_have_count(count)
    expect(page.page.get_by_role("button", name="Show more")).to_be_hidden()
    proxy.insert({"text": "the latest"})
    expect(entries.first).to_contain_text("the latest")
    expect(entries).to_have_count(651)
