"""10,000 todos: the page keeps only the rows near the window and answers at once."""

import time

from playwright.sync_api import expect

COUNT = 10_000


def shown(page):
    return page.page.locator(".todos li").count()


def test_ten_thousand_todos_are_as_quick_as_ten(start, dashboard, many):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    many(proxy, ({"text": f"Todo {n:05}", "complete": n % 10 == 0} for n in range(COUNT)))
    page = dashboard(proxy)
    page.open("todos?sort=text")
    expect(page.todo("Todo 00000")).to_have_count(1)
    expect(page.page.locator(".bar .count")).to_have_text("9,000 todos left")
    assert shown(page) < 300, "only rows near the window are in the page"

    page.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.todo("Todo 09999")).to_be_visible()
    assert shown(page) < 300, "rows that were scrolled away have left the page"
    assert page.page.locator(".todos li").last.get_attribute("aria-posinset") == str(COUNT)

    began = time.monotonic()
    page.page.get_by_label("Search todos").fill("todo 0777")
    expect(page.page.locator(".todos li")).to_have_count(10)
    assert time.monotonic() - began < 2
    page.page.get_by_role("button", name="Completed").click()
    expect(page.page.locator(".todos li")).to_have_count(1)
    assert "q=todo" in page.page.url and "show=completed" in page.page.url
    page.page.reload()
    expect(page.page.locator(".todos li")).to_have_count(1)

    page.open("todos")
    page.page.get_by_label("Search todos").fill("")
    page.page.get_by_role("button", name="All", exact=True).click()
    page.page.get_by_label("Sort by").select_option("newest")
    page.add("one more")
    expect(page.page.locator(".todos li").first).to_contain_text("one more")
    page.edit("one more", "one more, edited")
    page.page.get_by_role("button", name="Delete “one more, edited”").click()
    expect(page.todo("one more, edited")).to_have_count(0)


def test_due_order_is_kept_and_offered_where_todos_have_one(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    for text, due in [("later", "2031-01-02"), ("sooner", "2030-01-01"), ("last", "2032-01-01")]:
        proxy.insert({"text": text, "complete": False, "due": due})
    page = dashboard(proxy)
    expect(page.page.locator(".todos li")).to_have_count(3)
    page.page.get_by_label("Sort by").select_option("due")
    expect(page.page.locator(".todos .text")).to_have_text(["sooner", "later", "last"])


def test_completing_can_be_undone(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    item = proxy.insert({"text": "too early", "complete": False})
    page = dashboard(proxy)
    page.page.get_by_label("Complete “too early”").check()
    page.toast("Completed")
    page.undo()
    expect(page.page.get_by_label("Complete “too early”")).not_to_be_checked()
    assert proxy.get(item["id"]).json()["complete"] is False


def test_half_typed_words_outlive_a_reload(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"text": "mine"})
    page = dashboard(proxy)
    page.page.get_by_label("What needs doing?").fill("a new thou")
    page.page.get_by_role("button", name="Edit “mine”").click()
    page.page.get_by_label("Todo text").fill("half typed")
    page.page.reload()
    expect(page.page.get_by_label("Todo text")).to_have_value("half typed")
    expect(page.page.get_by_label("What needs doing?")).to_have_value("a new thou")
    page.page.get_by_label("Todo text").press("Enter")
    expect(page.todo("half typed")).to_have_count(1)


def test_two_tabs_show_the_same(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    first, second = dashboard(proxy), dashboard(proxy)
    first.add("from the first tab")
    expect(second.todo("from the first tab")).to_have_count(1)
    second.page.get_by_label("Complete “from the first tab”").check()
    expect(first.page.get_by_label("Complete “from the first tab”")).to_be_checked()


def write_to_pixel(page, text):
    """Milliseconds from a write until the page shows its text."""
    page.page.evaluate(
        """text => (globalThis.seen = new Promise(resolve => {
          const look = () => document.querySelector(".todos")?.textContent.includes(text)
            ? resolve(performance.now()) : requestAnimationFrame(look);
          look();
        })) && undefined""",
        text,
    )
    return page.page.evaluate(
        """async text => {
          const began = performance.now();
          await fetch("/tables/todoitem", { method: "POST", body: JSON.stringify({ text }),
            headers: { "Content-Type": "application/json", "ZUMO-API-VERSION": "2.0.0" } });
          return (await seen) - began;
        }""",
        text,
    )


CALM_MILLISECONDS = 2000  # Between two writes, so that the page may ask again at once.


def test_an_event_reaches_the_pixels_within_a_quarter_of_a_second(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    page = dashboard(proxy)
    page.add("first")
    p95 = []

    def calm_write(text):
        page.page.wait_for_timeout(CALM_MILLISECONDS)  # In a busy time events wait: test_busy_tab.py.
        return write_to_pixel(page, text)

    while not p95 or min(p95) > 250 and len(p95) < 5:  # Other work on the machine also takes time.
        times = [calm_write(f"Live {len(p95)}.{n}.") for n in range(20)]
        p95.append(sorted(times)[18])
    print("write to pixel: p95", [f"{one:.0f} ms" for one in p95])
    assert min(p95) <= 250
