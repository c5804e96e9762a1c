"""The overview above the queue: figures that agree with the ledger, as plots, as values and as a table."""

import re
import sqlite3
import time

import pytest
from playwright.sync_api import expect

PLOTS = ["Unsent changes", "Sent and failed", "Answers of the backend", "Failures by cause", "Backend"]
MINUTE = 60_000


def seed(proxy, minutes):
    """Stores samples of the last minutes: the sample of minute n ago has n in its figures."""
    now = int(time.time() * 1000) // MINUTE * MINUTE
    with sqlite3.connect(next(proxy.folder.glob("stores/*/store.sqlite"))) as store:
        store.executemany(
            """INSERT OR REPLACE INTO samples(at, depth, largest_depth, accepted, applied, collapsed, discarded,
                 failures, succeeded, failed, latency_ms, answers, reach)
               VALUES (?, ?, ?, 0, ?, 0, 0, ?, 0, 0, NULL, ?, ?)""",
            [(now - ago * MINUTE, ago % 20, ago % 20 + 3, ago % 50,
              f'["refused {ago % 4 + 1}","unavailable 2"]', f'["{16 + ago % 12} 50","32 5","40 1"]',
              '["online 45000","offline 15000"]' if ago % 9 else '["signedOut 60000"]')
             for ago in minutes])


def plot(page, name):
    return page.page.get_by_role("slider", name=re.compile(f"^{name}"))


def text_of(page, name):
    return plot(page, name).get_attribute("aria-valuetext")


def open_queue(page):
    page.open("queue")
    page.page.get_by_text("Overview", exact=True).click()
    expect(plot(page, "Backend")).to_have_attribute("aria-valuetext", re.compile("."))


def test_the_figures_are_those_of_the_ledger(start, dashboard):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    for n in range(5):
        proxy.insert({"id": f"a{n}", "text": f"todo {n}"})
    proxy.sync()
    backend.faults({"kind": "status", "status": 400, "methods": ["POST"]})
    for n in range(3):
        proxy.insert({"id": f"b{n}", "text": f"todo {n}"})
    proxy.sync()
    page = dashboard(proxy)
    open_queue(page)
    ledger = proxy.status()["ledger"]
    assert (ledger["applied"], ledger["quarantined"]) == (5, 3)
    # All of it may have been in two minutes.
    samples = proxy.operator("GET", "/samples")["items"]
    assert sum(one["applied"] for one in samples) == ledger["applied"]
    assert sum(one["accepted"] for one in samples) == ledger["accepted"]
    causes = {one["cause"] for sample in samples for one in sample["failures"]}
    assert causes == {"refused"}
    assert samples[-1]["depth"] == 3
    hour = proxy.operator("GET", "/samples?stepSeconds=3600")["items"]
    assert sum(one["applied"] for one in hour) == 5
    assert sum(one["count"] for sample in hour for one in sample["failures"]) == 3
    assert hour[-1]["p50Ms"] >= 1 and hour[-1]["p99Ms"] >= hour[-1]["p50Ms"]

    assert "now 3" in text_of(page, "Unsent changes")
    page.page.get_by_role("button", name="24 h").click()
    page.page.get_by_text("The same figures as a table").click()
    # The newest step has all of it, or two have.
    rows = page.page.locator(".figures tbody tr")
    expect(rows.first).to_contain_text("connected")
    # What happens later arrives without a click.
    proxy.insert({"text": "later"})
    expect(plot(page, "Unsent changes")).to_have_attribute("aria-valuetext", re.compile("now 4"), timeout=15_000)


def test_values_are_shown_under_the_pointer_and_by_the_keyboard(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"text": "one"})
    seed(proxy, range(1, 180))
    page = dashboard(proxy)
    open_queue(page)
    when = page.page.locator(".overview .when")
    expect(when).to_have_text("Now")
    depth = plot(page, "Unsent changes")
    depth.focus()
    page.page.keyboard.press("ArrowLeft")
    expect(when).to_have_text(re.compile(r"\d+:\d\d.* to \d+:\d\d"))
    # A minute ago, or two where a minute has begun meanwhile: the depth counts the minutes.
    ago = int(re.search(r"now (\d+)", text_of(page, "Unsent changes"))[1])
    assert ago in (1, 2)
    page.page.keyboard.press("ArrowLeft")
    expect(depth).to_have_attribute("aria-valuetext", re.compile(f"now {ago + 1}, most {ago + 4}$"))
    # All plots show the same minute.
    assert f"sent {ago + 1}, failed {(ago + 1) % 4 + 3}" in text_of(page, "Sent and failed")
    assert "connected 75 %, not reached 25 %" in text_of(page, "Backend")
    assert re.search(r"p50 \d+, p95 256, p99 1,024$", text_of(page, "Answers of the backend"))
    assert f"refused {(ago + 1) % 4 + 1}, not available 2" in text_of(page, "Failures by cause")
    page.page.keyboard.press("Home")
    expect(depth).to_have_attribute("aria-valuenow", "0")
    page.page.keyboard.press("End")
    expect(depth).to_have_attribute("aria-valuenow", "59")

    box = depth.bounding_box()
    page.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40)
    first = text_of(page, "Unsent changes")
    expect(page.page.locator(".plot-key").first).to_contain_text(re.search(r"now (\d+)", first)[1])
    page.page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 40)
    assert text_of(page, "Unsent changes") != first
    page.page.mouse.move(2, 2)
    expect(when).to_have_text("Now")


def test_longer_times_are_added_up_and_what_is_missing_says_so(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"text": "one"})
    seed(proxy, list(range(1, 300)) + list(range(2000, 5000)))
    page = dashboard(proxy)
    open_queue(page)
    for name, steps in [("24 h", 96), ("7 d", 168), ("1 h", 60)]:
        page.page.get_by_role("button", name=name).click()
        expect(plot(page, "Unsent changes")).to_have_attribute("aria-valuemax", str(steps - 1))
        expect(page.page.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
    page.page.get_by_role("button", name="24 h").click()
    expect(plot(page, "Unsent changes")).to_have_attribute("aria-valuemax", "95")
    plot(page, "Unsent changes").focus()
    page.page.keyboard.press("Home")
    assert "no figures" in text_of(page, "Unsent changes")
    page.page.get_by_text("The same figures as a table").click()
    rows = page.page.locator(".figures tbody tr")
    expect(rows).to_have_count(96)
    expect(rows.last).to_contain_text("no figures")
    # The choice stays over a reload.
    page.page.reload()
    expect(plot(page, "Unsent changes")).to_have_attribute("aria-valuemax", "95")


def test_a_dot_leads_to_its_run(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    proxy.insert({"text": "one"})
    run = proxy.sync()
    page = dashboard(proxy)
    open_queue(page)
    dot = page.page.locator(".run-dot")
    expect(dot).to_have_count(1)
    expect(dot).to_have_accessible_name(re.compile("Sync of .*: Synced$"))
    dot.focus()
    page.page.keyboard.press("Enter")
    expect(page.page).to_have_url(re.compile("#/history/runs/" + run["id"]))
    expect(page.page.locator("article")).to_contain_text("todoitem")
    page.page.go_back()
    expect(dot).to_have_count(1)


@pytest.fixture(scope="module")
def busy(start_shared):
    """A proxy with a change and three hours of figures, which the tests only look at."""
    proxy = start_shared.proxy(start_shared.backend().url, "--table", "todoitem", "--sync", "manual")
    for n in range(30):
        proxy.insert({"text": f"todo {n}"})
    proxy.sync()
    proxy.update(proxy.all()[0]["id"], {"text": "changed"})
    seed(proxy, range(1, 180))
    return proxy


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 720, 1440, 2560])
def test_the_overview_fits_and_moves_nothing(busy, dashboard, theme, width):
    page = dashboard(busy, color_scheme=theme, viewport={"width": width, "height": 900})
    page.watch_shifts()
    page.open("queue")
    page.page.reload()
    expect(page.page.locator(".operations li").first).to_be_visible()
    expect(page.page.locator(".plots")).to_be_hidden()
    assert page.shift() <= 0.02
    page.page.get_by_text("Overview", exact=True).click()
    # The click moves what is below. What comes after must move nothing.
    page.shift()
    page.page.evaluate("shift = 0")
    expect(plot(page, "Backend")).to_have_attribute("aria-valuetext", re.compile("."))
    for name in ["24 h", "7 d", "1 h"]:
        page.page.get_by_role("button", name=name).click()
    expect(plot(page, "Unsent changes")).to_have_attribute("aria-valuemax", "59")
    # Before the picture: for one of the whole page the browser makes its window larger.
    shift = page.shift()
    assert shift <= 0.02, f"shift {shift:.3f}"
    page.no_overflow("the overview")
    page.accessible()
    page.screenshot(f"overview-{width}-{theme}")


def test_the_overview_stays_closed(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"text": "one"})
    page = dashboard(proxy)
    open_queue(page)
    page.page.get_by_text("Overview", exact=True).click()
    expect(page.page.locator(".plots")).to_be_hidden()
    asked = []
    page.page.on("request", lambda request: asked.append(request.url) if "/samples" in request.url else None)
    page.page.reload()
    expect(page.page.locator(".operations li").first).to_be_visible()
    expect(page.page.locator(".plots")).to_be_hidden()
    assert asked == []
