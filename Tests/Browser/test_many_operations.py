"""Many todos, and a long queue with a change of each: every view answers at once, and the page has only the rows
near the window. There are 10,000 todos unless OPERATIONS says otherwise, and a tenth as many notes."""

import os
import time

import pytest
from playwright.sync_api import expect
from programs import wait_until

COUNT = int(os.environ.get("OPERATIONS", 10_000))
VIEW_MILLISECONDS = 300
NOTES = COUNT // 10
RARE = [n for n in range(COUNT) if n % (COUNT // 7) == 1]


@pytest.fixture(scope="module")
def queue(start_shared, many):
    """A proxy with an operation for each todo and each note. A tenth is completed, and some have a rare word."""
    proxy = start_shared.proxy("http://127.0.0.1:9", "--sync", "manual")

    def items(numbers):
        return ({"id": f"op{n:06}", "text": f"Todo {n:06}", "complete": n % 10 == 0,
                 "note": "a rare word" if n in RARE else "as all the others"}
                for n in numbers)

    many(proxy, items(range(COUNT)))
    many(proxy, items(range(0, COUNT, 10)), table="notes")
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
    expect(page.page.locator(".bulk .count")).to_have_text(f"{COUNT + NOTES:,} operations")
    expect(rows(page).first).to_be_visible()
    assert rows(page).count() < 300, "only rows near the window are in the page"
    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    places = "[...document.querySelectorAll('.operations li')].map(one => Number(one.ariaPosInSet))"
    last = COUNT + NOTES
    middle = range(int(last * 0.48), int(last * 0.52))
    wait_until(lambda: any(at in middle for at in page.page.evaluate(places)), what="the middle")
    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.page.locator(f".operations li[aria-posinset='{last}']")).to_be_visible()
    assert rows(page).count() < 300, "rows that were scrolled away have left the page"


def test_so_many_todos_are_as_quick_as_ten(page):
    todos = page.page.locator(".todos li")
    page.open("todos?sort=text")
    expect(page.todo("Todo 000000")).to_have_count(1)
    expect(page.page.locator(".bar .count")).to_have_text(f"{COUNT - NOTES:,} todos left")
    assert todos.count() < 300, "only rows near the window are in the page"

    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.todo(f"Todo {COUNT - 1:06}")).to_be_visible()
    assert todos.count() < 300, "rows that were scrolled away have left the page"
    assert todos.last.get_attribute("aria-posinset") == str(COUNT)

    began = time.monotonic()
    page.page.get_by_label("Search todos").fill("todo 00777")
    expect(todos).to_have_count(10)
    assert time.monotonic() - began < 2
    page.page.get_by_role("button", name="Completed").click()
    expect(todos).to_have_count(1)
    assert "q=todo" in page.page.url and "show=completed" in page.page.url
    page.page.reload()
    expect(todos).to_have_count(1)

    page.open("todos")
    page.page.get_by_label("Search todos").fill("")
    page.page.get_by_role("button", name="All", exact=True).click()
    page.page.get_by_label("Sort by").select_option("newest")
    page.add("one more")
    expect(todos.first).to_contain_text("one more")
    page.edit("one more", "one more, edited")
    page.page.get_by_role("button", name="Delete “one more, edited”").click()
    expect(page.todo("one more, edited")).to_have_count(0)
