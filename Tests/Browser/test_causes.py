"""The causes: why changes wait, with one row for refusals that differ only in their values."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect
from programs import wait_until

STATUSES = {"taken": 422, "big": 413, "other": 400}
SENTENCES = {
    "taken": 'The title "{text}" of row {n} is taken.',
    "big": "Row {id} is too big.",
    "other": "Rule {word} was broken.",
}


class Refusing(BaseHTTPRequestHandler):
    """A backend whose errors name the row, as many do."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.answer(200, [])

    def do_POST(self):
        row = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sentence = SENTENCES[row["why"]].format(**row)
        self.answer(STATUSES[row["why"]], {"error": sentence})

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def refusing():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


WORDS = "alpha beta gamma delta epsilon zeta eta theta".split()


def refused_by(refusing, start):
    """A proxy with nine refusals of one cause, three of another, and eight with a cause of their own."""
    proxy = start.proxy(refusing, "--sync", "manual")
    rows = [{"why": "taken", "text": f"Title {n}"} for n in range(9)]
    rows += [{"why": "big", "text": f"Row {n}"} for n in range(3)]
    rows += [{"why": "other", "text": word, "word": word} for word in WORDS]
    for n, row in enumerate(rows):
        proxy.insert({"id": f"a{n}b{n}", "n": n, **row})
    proxy.sync()
    assert proxy.status()["queue"]["quarantined"] == 20
    return proxy


@pytest.fixture
def refused(refusing, start):
    return refused_by(refusing, start)


@pytest.fixture(scope="module")
def refused_to_look_at(refusing, start_shared):
    return refused_by(refusing, start_shared)


def causes(page):
    return page.page.locator(".causes tbody tr")


def open_causes(page, address="queue"):
    page.open(address)
    page.page.locator(".cause-part > summary").click()


def rows(page):
    return page.page.locator(".operations li")


def test_refusals_that_differ_only_in_their_values_are_one_row(refused_to_look_at, dashboard):
    page = dashboard(refused_to_look_at, viewport={"width": 1440, "height": 900})
    open_causes(page)
    expect(causes(page)).to_have_count(6)
    first, second = causes(page).nth(0), causes(page).nth(1)
    for text in ("9", "refused", "422",
                 "ago"):
        expect(first).to_contain_text(text)
    said = page.page.locator(".causes .cause")
    expect(said.nth(0)).to_have_text("The title “…” of row # is taken.")
    expect(said.nth(1)).to_have_text("Row <id> is too big.")
    expect(said.nth(2)).to_have_text("Rule alpha was broken.")
    full = "The backend refused it with #: The title “…” of row # is taken."
    expect(first.get_by_role("link")).to_have_attribute("title", full)
    # At one moment: a refresh replaces the rows.
    whole, part = page.page.evaluate(
        """() => [...document.querySelectorAll(".causes .share")].slice(0, 2)
            .map((one) => one.getBoundingClientRect().width / one.parentElement.clientWidth)""")
    assert abs(whole - 9 / 20) < 0.01 and abs(part - 3 / 20) < 0.01
    heights = causes(page).evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
    assert set(heights) == {44}
    page.accessible()
    page.no_overflow("the causes")
    first.get_by_role("link").click()
    expect(rows(page)).to_have_count(9)
    expect(page.page.locator(".bulk .count")).to_have_text("9 operations")
    page.page.get_by_role("button", name="Show all", exact=True).click()
    expect(rows(page)).to_have_count(20)


def test_all_causes_are_shown_on_request(refused_to_look_at, dashboard):
    page = dashboard(refused_to_look_at)
    open_causes(page)
    page.page.get_by_role("button", name="Show all 10 causes").click()
    expect(causes(page)).to_have_count(10)
    page.page.get_by_role("button", name="Show fewer causes").click()
    expect(causes(page)).to_have_count(6)


def test_all_of_a_cause_are_retried_or_discarded_and_nothing_else(refused, dashboard):
    page = dashboard(refused)
    open_causes(page)
    causes(page).nth(0).get_by_role("button", name="Discard 9").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("9 operations match")
    page.confirm("Discard 9 unsent changes")
    page.toast("9 discarded")
    expect(rows(page)).to_have_count(11)
    assert {row["why"] for row in refused.all()} == {"big", "other"}
    page.undo()
    page.toast("9 decisions undone")
    expect(rows(page)).to_have_count(20)
    causes(page).nth(1).get_by_role("button", name="Retry 3").click()
    page.confirm("Retry")
    page.toast("3 queued for retry")
    queue = refused.status()["queue"]
    assert (queue["queued"], queue["quarantined"]) == (3, 17)


def test_filters_and_orders_are_in_the_address(refused, dashboard):
    refused.insert({"text": "not tried"}, table="aardvarks")
    page = dashboard(refused)
    page.open("queue")
    expect(rows(page)).to_have_count(21)
    choose = lambda name, value: page.page.get_by_role("combobox", name=name).select_option(value)
    choose("Sort by", "table")
    expect(rows(page).first).to_contain_text("not tried")
    choose("Sort by", "attempts")
    expect(rows(page).last).to_contain_text("not tried")
    choose("Sort by", "newest")
    expect(rows(page).first).to_contain_text("not tried")
    page.page.get_by_text("More filters").click()
    choose("Attempts", "1")
    expect(rows(page)).to_have_count(20)
    expect(rows(page).first).to_contain_text(WORDS[-1])
    choose("Status", "413")
    expect(rows(page)).to_have_count(3)
    page.page.reload()
    expect(rows(page)).to_have_count(3)
    assert all(part in page.page.url for part in ("sort=newest", "attempts=1", "status=413"))
    choose("Age", "3600")
    expect(page.page.locator("main")).to_contain_text("Nothing matches")
    page.accessible()


def test_nothing_moves_when_the_causes_arrive(refused_to_look_at, dashboard):
    page = dashboard(refused_to_look_at, viewport={"width": 1440, "height": 900})
    page.watch_shifts()
    open_causes(page)
    expect(rows(page).first).to_be_visible()
    # The causes are held back until the operations have come.
    page.page.route("**/operations/groups*", lambda route: None)
    with page.page.expect_response(lambda answer: answer.url.partition("?")[0].endswith("/operations")):
        page.page.reload()
    expect(causes(page)).to_have_count(0)
    page.page.unroute("**/operations/groups*")
    expect(causes(page)).to_have_count(6)
    expect(rows(page).first).to_be_visible()
    assert page.shift() < 0.02


def test_on_a_narrow_page_each_cause_is_a_card(refused_to_look_at, dashboard):
    for width in (320, 720):
        page = dashboard(refused_to_look_at, viewport={"width": width, "height": 900})
        open_causes(page)
        expect(causes(page)).to_have_count(6)
        page.no_overflow(f"the causes at {width}")
        page.accessible()
        boxes = causes(page).evaluate_all("all => all.map((one) => one.getBoundingClientRect().toJSON())")
        assert all(high["bottom"] <= low["top"] + 1 for high, low in zip(boxes, boxes[1:]))


def test_print_has_the_causes_and_the_first_rows(refused, dashboard, many):
    many(refused, ({"text": f"t{n:03}"} for n in range(250)))
    page = dashboard(refused)
    page.open("queue")
    expect(rows(page).first).to_be_visible()
    page.page.evaluate("""() => { globalThis.print = () => {
      globalThis.printed = document.querySelectorAll(".printed li").length; }; }""")
    printed = lambda: wait_until(lambda: page.page.evaluate("globalThis.printed") == 200, what="200 printed rows")
    page.page.get_by_role("button", name="Print").click()
    printed()
    expect(page.page.locator(".printed")).to_have_count(0)
    page.page.evaluate("globalThis.printed = 0")
    page.page.keyboard.press("Control+p")
    printed()
