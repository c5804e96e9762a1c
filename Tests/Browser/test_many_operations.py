"""A long queue: every view answers at once. It has 10,000 operations unless OPERATIONS says otherwise."""

import os

import pytest
from playwright.sync_api import expect
from programs import wait_until

COUNT = int(os.environ.get("OPERATIONS", 10_000))
VIEW_MILLISECONDS = 300
RARE = [n for n in range(COUNT) if n % (COUNT // 7) == 1]


@pytest.fixture(scope="module")
def queue(start_shared, many):
    """A proxy with COUNT operations: a tenth of them in another table, some with a rare word."""
    proxy = start_shared.proxy("http://127.0.0.1:9", "--sync", "manual")

    def items(wanted):
        return ({"id": f"op{n:06}", "text": f"Todo {n:06}", "complete": False,
                 "note": "a rare word" if n in RARE else "as all the others"}
                for n in range(COUNT) if wanted(n))

    many(proxy, items(lambda n: n % 10))
    many(proxy, items(lambda n: n % 10 == 0), table="notes")
    return proxy


@pytest.fixture
def page(queue, dashboard):
    return dashboard(queue, viewport={"width": 1280, "height": 900})


def rows(page):
    return page.page.locator(".operations li")


def settled(page, place, selector, text):
    """Milliseconds from opening a view until the expected text is visible."""
    return page.page.evaluate(
        """async ([place, selector, text]) => {
          const began = performance.now();
          location.hash = place;
          while (performance.now() - began < 8000 && ![...document.querySelectorAll(selector)].some(one => one.textContent.includes(text) && one.checkVisibility()))
            await new Promise(requestAnimationFrame);
          return performance.now() - began;
        }""",
        [place, selector, text],
    )


def quickest(page, away, place, selector, text=""):
    """The first that is quick enough or the best of ten, since other work on the machine also takes time."""
    times = []
    while not times or min(times) > VIEW_MILLISECONDS and len(times) < 10:
        page.page.evaluate(f"location.hash = '{away}'")
        expect(page.page.locator(selector).filter(has_text=text)).to_have_count(0)
        times.append(settled(page, place, selector, text))
    return min(times)


def test_every_view_opens_at_once(page):
    took = {}
    for view, selector in [
        ("todos", ".todos li"), ("queue", ".operations li"), ("history", ".history li"),
        ("tables/todoitem", ".grid tbody tr"), ("status", "#ledger-title"),
        ("conflicts", "main .empty"),
    ]:
        away = "#/conflicts" if view != "conflicts" else "#/status"
        took[view] = quickest(page, away, f"#/{view}", selector)
    print(f"{COUNT} operations:", {view: f"{ms:.0f} ms" for view, ms in took.items()})
    assert max(took.values()) <= VIEW_MILLISECONDS


def test_every_filter_of_the_queue_answers_at_once(page):
    took = {}
    [newest] = page.proxy.operator("GET", "/operations?sort=newest&limit=1")["items"]
    for name, asked, selector, text in [
        ("state", "state=queued", ".operations li", "Todo 000001"),
        ("none", "state=quarantined", ".empty", "Nothing matches"),
        ("table", "table=notes", ".operations li", "Todo 000010"),
        ("text", f"q=todo%20{COUNT - 1:06}", ".operations li", f"Todo {COUNT - 1:06}"),
        ("payload", "q=a%20rare%20word", ".bulk", f"{len(RARE)} operations"),
        ("no text", "q=nothing%20has%20this", ".empty", "Nothing matches"),
        ("table and payload", "table=notes&q=others", ".operations li", "Todo 000010"),
        ("status", "status=none", ".operations li", "Todo 000001"),
        ("attempts", "attempts=1", ".empty", "Nothing matches"),
        ("newest first", "sort=newest", ".operations li", newest["title"]),
        ("most attempts first", "sort=attempts", ".operations li", "Todo 000001"),
        ("by table", "sort=table", ".operations li", "Todo 000010"),
    ]:
        took[name] = quickest(page, "#/conflicts", f"#/queue?{asked}", selector, text)
    print(f"{COUNT} operations:", {name: f"{ms:.0f} ms" for name, ms in took.items()})
    assert max(took.values()) <= VIEW_MILLISECONDS


def test_the_list_reaches_from_the_first_to_the_last(page):
    page.open("queue")
    expect(page.page.locator(".bulk .count")).to_have_text(f"{COUNT:,} operations")
    expect(rows(page).first).to_be_visible()
    assert rows(page).count() < 300, "only rows near the window are in the page"
    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    places = "[...document.querySelectorAll('.operations li')].map(one => Number(one.ariaPosInSet))"
    middle = range(int(COUNT * 0.48), int(COUNT * 0.52))
    wait_until(lambda: any(at in middle for at in page.page.evaluate(places)), what="the middle")
    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.page.locator(f".operations li[aria-posinset='{COUNT}']")).to_be_visible()
    assert rows(page).count() < 300, "rows that were scrolled away have left the page"
