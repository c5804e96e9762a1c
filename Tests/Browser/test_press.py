"""A press of a person's length while the backend comes and goes: every press is a click, and nothing moves."""

import os
import threading

import pytest
from playwright.sync_api import expect

PRESSES = int(os.environ.get("PRESSES", "29"))  # On each view, 203 together; `make soak` makes 200 on each.
PRESS_MILLISECONDS = 300
FLAP_SECONDS = 0.4
FAILURE = {"kind": "status", "status": 503}
# How a world begins: another client writes all the time, or none does; or none does, and nothing waits to be sent.
NEWS, QUIET, SENT = "with news", "without news", "sent"


@pytest.fixture(params=[NEWS])
def world(start, request):
    """Two conflicts, a refusal, a change that waits unless it is sent, and a backend that fails every other moment."""
    backend = start.backend("--faults", "--table", "todoitem:unique=text")
    proxy = start.proxy(backend.url)
    rows = [proxy.insert({"text": f"row {number}", "complete": False}) for number in range(4)]
    assert proxy.sync()["state"] == "complete"
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    for row in rows[:2]:
        backend.update(row["id"], {"text": f"{row['text']} of the server"})
        proxy.update(row["id"], {"text": f"{row['text']} of mine"})
    proxy.operator("POST", "/mode", json={"mode": "online"})
    proxy.insert({"text": "row 2"})  # The backend has it already, and refuses it.
    proxy.sync()
    queue = proxy.status()["queue"]
    assert (queue["conflict"], queue["quarantined"]) == (2, 1)
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    proxy.update(rows[2]["id"], {"note": "waits"})
    if request.param != SENT:
        backend.faults(FAILURE)
    proxy.operator("POST", "/mode", json={"mode": "online"})
    if request.param == SENT:
        proxy.sync()
    ended = threading.Event()

    def flap():
        number = 0
        while not ended.wait(FLAP_SECONDS):
            number += 1
            backend.faults(*([FAILURE] if number % 2 else []))
            if request.param != NEWS:
                continue
            proxy.insert({"text": f"news {number}", "complete": False}, table="news")
            proxy.update(rows[2]["id"], {"note": f"{number}"})

    worker = threading.Thread(target=flap)
    worker.start()
    yield proxy
    ended.set()
    worker.join()


VIEWS = {
    "todos": ".todos li:has-text('row 3') input[type=checkbox]",
    "conflicts": "[data-key=next]",
    "queue?causes": ".causes [data-key=discard]",
    "queue": ".operations li:has-text('of mine') [data-open]",
    "tables/todoitem": ".grid [data-column=text]",
    "history": ".history summary",
    "status": "#main details summary",
}


@pytest.mark.parametrize("view", VIEWS)
def test_every_press_is_a_click(world, dashboard, view):
    page = dashboard(world).open(view)
    if "causes" in view:
        page.locator(".cause-part > summary").click()
    target = page.locator(VIEWS[view]).first
    expect(target).to_be_visible()
    page.evaluate("""selector => {
        globalThis.clicks = 0;
        addEventListener("click", event => {
            if (event.target.closest(selector) === null) return;
            clicks++;
            if (selector.includes("causes")) event.stopPropagation(); // Else it asks in front of the page.
        }, true);
    }""", VIEWS[view].replace(":has-text('row 3')", "").replace(":has-text('of mine')", ""))
    for _ in range(PRESSES):
        target.hover()
        page.mouse.down()
        page.wait_for_timeout(PRESS_MILLISECONDS)
        page.mouse.up()
    assert page.evaluate("clicks") == PRESSES


# The change that waits would leave the queue when it is sent, which moves the others.
@pytest.mark.parametrize(
    ("world", "view"), [(SENT if "queue" in view else QUIET, view) for view in VIEWS], indirect=["world"])
def test_nothing_moves_while_the_backend_comes_and_goes(world, dashboard, view):
    """But for entries of the history: one that comes, when the change was sent after all, stands above the others."""
    page = dashboard(world)
    page.open(view)
    if "causes" in view:
        page.page.locator(".cause-part > summary").click()
    expect(page.page.locator(VIEWS[view]).first).to_be_visible()
    if "queue" in view:
        expect(page.page.locator(".operations li")).to_have_count(3)
    page.page.wait_for_timeout(1_000)
    page.page.evaluate("""() => {
        globalThis.moved = [];
        new PerformanceObserver(list => list.getEntries().forEach(entry => moved.push(
            ...entry.sources.filter(({ node }) => !(node?.parentElement?.closest(".history"))).map(
                ({ node, previousRect, currentRect }) =>
                    [node?.outerHTML?.slice(0, 120) ?? node?.data, previousRect.toJSON(), currentRect.toJSON()]))))
          .observe({ type: "layout-shift" });
    }""")
    page.page.wait_for_timeout(1_000 * 8 * FLAP_SECONDS)
    found = page.page.evaluate("moved")
    assert found == [], found


@pytest.mark.parametrize("world", [QUIET], indirect=True)
@pytest.mark.parametrize("width", [320, 1440])
def test_a_message_covers_no_button(world, dashboard, width):
    """It has a place of its own at the bottom of the window, which shows nothing else."""
    page = dashboard(world, viewport={"width": width, "height": 500})
    page.open("conflicts")
    expect(page.page.locator(".conflict")).to_be_visible()
    page.page.evaluate("""async () => {
        const { toast } = await import("/-/shared/messages.js");
        toast("A sentence that is longer than a narrow page is wide. ".repeat(4), { label: "Undo", run() {} });
    }""")
    expect(page.page.locator("#toast")).to_be_visible()
    found = page.page.evaluate("""() => {
        const box = document.getElementById("toast").getBoundingClientRect();
        const place = document.querySelector(".messages").getBoundingClientRect();
        const inside = Math.abs(box.top - place.top) < 2 && Math.abs(box.bottom - place.bottom) < 2;
        const shown = getComputedStyle(document.querySelector(".messages")).backgroundColor;
        return { inside, opaque: !shown.includes("rgba") };
    }""")
    assert found["inside"] and found["opaque"], found
    # The last thing of the page can be scrolled to above that place, and so can what has the focus.
    for button in page.page.locator("main button:visible").all():
        button.focus()
        assert button.evaluate("""one => {
            const box = one.getBoundingClientRect();
            return one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
        }"""), button.inner_text()
