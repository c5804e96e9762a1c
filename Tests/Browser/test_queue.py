"""The queue: causes, filters in the address, bulk actions with a preview, edit and send again."""

import pytest
from playwright.sync_api import expect

TABLES = ["todoitem", "notes"]
REFUSE = {"kind": "status", "status": 400, "methods": ["POST"]}


@pytest.fixture
def refused(pair):
    """Seven operations that the backend refused for one reason, and one that only waits."""
    backend, proxy = pair
    proxy.insert({"text": "good"})
    proxy.sync()
    backend.faults(REFUSE)
    for n in range(7):
        proxy.insert({"text": f"refused {n}", "secret": f"payload-{n}"})
    proxy.sync()
    backend.faults()
    proxy.insert({"text": "elsewhere"}, table="notes")
    return backend, proxy


def rows(page):
    return page.page.locator(".operations li")


def test_causes_filters_and_many_at_once(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    expect(rows(page)).to_have_count(8)
    page.page.get_by_role("combobox", name="Table").select_option("notes")
    expect(rows(page)).to_have_count(1)
    assert "table=notes" in page.page.url
    page.page.get_by_role("combobox", name="Table").select_option("")
    page.page.get_by_label("Search").fill("payload-3")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("refused 3")
    page.page.reload()
    expect(rows(page)).to_have_count(1)
    page.page.get_by_label("Search").fill("")

    page.page.locator(".cause-part > summary").click()
    page.page.locator(".causes tr", has_text="7").get_by_role("link").click()
    expect(rows(page)).to_have_count(7)
    assert "reason=" in page.page.url and "status=400" in page.page.url
    page.accessible()
    page.page.get_by_role("button", name="Retry all 7").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("7 operations match")
    page.confirm("Cancel")
    expect(rows(page)).to_have_count(7)
    page.page.get_by_role("button", name="Retry all 7").click()
    page.confirm("Retry")
    page.toast("7 queued for retry")
    page.page.locator("#toast").get_by_role("link", name="Show them").click()
    expect(rows(page)).to_have_count(8)
    assert "state=queued" in page.page.url
    page.sync()
    sent = {(row["text"], row.get("secret")) for row in backend.all()}
    assert sent == {("good", None)} | {(f"refused {n}", f"payload-{n}") for n in range(7)}
    assert [row["text"] for row in backend.all("notes")] == ["elsewhere"]


def test_enter_discards_many_and_undo_restores_all(pair, dashboard, many):
    _, proxy = pair
    many(proxy, ({"text": f"t{n:03}"} for n in range(120)))
    before = {row["id"]: row["text"] for row in proxy.all()}
    page = dashboard(proxy)
    page.open("queue")
    page.page.get_by_role("button", name="Discard all 120").click()
    danger = page.page.get_by_role("dialog").get_by_role("button", name="Discard 120 unsent changes")
    expect(danger).to_be_focused()
    cancel = page.page.get_by_role("dialog").get_by_role("button", name="Cancel")
    colour = "one => getComputedStyle(one).backgroundColor"
    assert danger.evaluate(colour) != cancel.evaluate(colour)
    page.accessible()
    page.page.keyboard.press("Enter")
    page.toast("120 discarded")
    page.undo()
    page.toast("120 decisions undone")
    assert {row["id"]: row["text"] for row in proxy.all()} == before
    assert proxy.status()["queue"]["queued"] == 120


def test_selected_ones_are_discarded_and_taken_back(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    for n in (1, 2):
        page.page.get_by_label(f"Select “refused {n}”").check()
    page.page.get_by_role("button", name="Discard 2").click()
    page.confirm("Discard 2 unsent changes")
    page.toast("2 discarded")
    expect(rows(page)).to_have_count(6)
    page.undo()
    page.toast("2 decisions undone")
    expect(rows(page)).to_have_count(8)


def test_a_refused_operation_is_edited_and_sent_again(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    rows(page).filter(has_text="refused 5").get_by_role("link").click()
    side = page.page.locator(".side")
    expect(side).to_contain_text("400")
    side.get_by_role("button", name="Edit").click()
    field = side.get_by_label("What is sent")
    field.fill('{"text": "refused 5, mended"')
    side.get_by_role("button", name="Save and send again").click()
    expect(side.get_by_role("alert")).to_have_text("This is not valid JSON: line 1, column 29.")
    field.fill('{\n "text": "refused 5",\n "complete": nope\n}')
    field.press("Control+Enter")
    expect(side.locator("#payload-problem")).to_contain_text("line 3, column 14")
    field.fill('{"text": "refused 5, mended"}')
    page.accessible()
    side.get_by_role("button", name="Save and send again").click()
    page.toast("The next sync sends it")
    page.sync()
    assert "refused 5, mended" in [row["text"] for row in backend.all()]


def test_the_card_says_what_the_backend_answered_and_gives_copies(refused, dashboard):
    backend, proxy = refused
    page = dashboard(proxy)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.open("queue?state=quarantined")
    rows(page).filter(has_text="refused 5").get_by_role("link").click()
    side = page.page.locator(".side")
    answer = side.locator(".last-answer")
    expect(answer).to_contain_text("400")
    assert float(answer.evaluate("one => parseFloat(getComputedStyle(one).fontSize)")) > 16
    side.get_by_text("Answer", exact=True).click()
    expect(side.locator(".attempts details[open] summary")).to_have_text(["Answer"])
    side.get_by_role("button", name="Copy as curl").click()
    page.toast("Copied")
    line = page.page.evaluate("navigator.clipboard.readText()")
    assert line.startswith(f"curl -X POST ") and f"'{backend.url}/tables/todoitem'" in line
    assert "refused 5" in line and "x-zumo-auth" not in line.lower()
    side.get_by_role("button", name="Copy id").click()
    assert page.page.evaluate("navigator.clipboard.readText()") in page.page.url
    with page.page.expect_download() as download:
        side.get_by_role("button", name="Download JSON").click()
    assert download.value.suggested_filename.endswith(".json")
    page.page.keyboard.press("Escape")
    expect(side.locator("article")).to_have_count(0)
    link = rows(page).filter(has_text="refused 5").get_by_role("link")
    expect(link).to_be_focused()


def test_keys_go_on_from_the_row_whose_card_is_open(refused, dashboard):
    _, proxy = refused
    page = dashboard(proxy)
    page.open("queue?state=quarantined")
    rows(page).nth(3).get_by_role("link").click()
    expect(page.page.locator("#operation-title")).to_be_focused()
    page.page.keyboard.press("j")
    expect(rows(page).nth(4).get_by_role("link")).to_be_focused()
    page.page.keyboard.press("k")
    expect(rows(page).nth(3).get_by_role("link")).to_be_focused()


def test_back_leads_through_states_causes_and_cards(refused, dashboard):
    _, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    expect(rows(page)).to_have_count(8)
    states = page.page.get_by_role("navigation", name="State")
    states.get_by_role("link", name="refused 7").click()
    expect(rows(page)).to_have_count(7)
    expect(states.locator("[aria-current]")).to_contain_text("refused")
    rows(page).first.get_by_role("link").click()
    expect(page.page.locator("#operation-title")).to_be_visible()
    page.page.go_back()
    expect(page.page.locator("#operation-title")).to_have_count(0)
    expect(rows(page)).to_have_count(7)
    page.page.go_back()
    expect(rows(page)).to_have_count(8)


def test_on_a_narrow_page_the_card_is_a_sheet_over_the_list(refused, dashboard):
    _, proxy = refused
    for width in (320, 720):
        page = dashboard(proxy, viewport={"width": width, "height": 700})
        page.open("queue?state=quarantined")
        rows(page).last.get_by_role("link").click()
        expect(page.page.locator("#operation-title")).to_be_in_viewport()
        page.no_overflow(f"the sheet at {width}")
        page.accessible()
        page.screenshot(f"queue-sheet-{width}-light")
        page.page.get_by_role("button", name="Close").click()
        expect(page.page.locator(".side article")).to_have_count(0)
        page.no_overflow(f"the queue at {width}")


def test_a_row_is_one_line_and_opens_wherever_it_is_clicked(refused, dashboard):
    _, proxy = refused
    page = dashboard(proxy, viewport={"width": 1440, "height": 900})
    page.open("queue?state=quarantined")
    row = rows(page).nth(2)
    # Asked again where a refresh replaced the row meanwhile.
    expect(row).to_have_js_property("offsetHeight", 44)
    for text in ("Add", "refused 2", "todoitem", "refused", "1 attempt", "ago"):
        expect(row).to_contain_text(text)
    row.scroll_into_view_if_needed()
    box = row.bounding_box()
    page.page.mouse.click(box["x"] + box["width"] - 3, box["y"] + 3)
    expect(page.page.locator("#operation-title")).to_contain_text("refused 2")


def test_shift_selects_a_range(refused, dashboard):
    _, proxy = refused
    page = dashboard(proxy)
    page.open("queue?state=quarantined")
    page.page.get_by_label("Select “refused 1”").check()
    page.page.get_by_label("Select “refused 4”").click(modifiers=["Shift"])
    expect(page.page.locator(".bulk .count")).to_have_text("4 selected")
    rows(page).nth(6).click(modifiers=["Shift"], position={"x": 300, "y": 5})
    expect(page.page.locator(".bulk .count")).to_have_text("6 selected")
    expect(page.page.locator("#operation-title")).to_have_count(0)


def test_a_waiting_operation_says_when_it_is_tried_next_and_why(start, dashboard):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    backend.faults({"kind": "status", "status": 500, "methods": ["POST"]})
    proxy.insert({"text": "trouble"})
    proxy.sync()
    page = dashboard(proxy)
    page.open("queue")
    rows(page).filter(has_text="trouble").get_by_role("link").click()
    side = page.page.locator(".side")
    expect(side).to_contain_text("Next try")
    expect(side).to_contain_text("Why it is here")
    expect(side.locator(".attempts li")).not_to_have_count(0)
    page.page.keyboard.press("r")
    page.toast("Queued for retry")


def test_an_attempt_shows_the_whole_exchange_without_secrets(pair, dashboard):
    backend, proxy = pair
    backend.faults(REFUSE)
    proxy.insert({"text": "recorded"})
    proxy.sync()
    page = dashboard(proxy)
    page.open("queue")
    rows(page).filter(has_text="recorded").get_by_role("link").click()
    log = page.page.locator(".attempts")
    expect(log.locator("li").first).to_contain_text("Accepted")
    expect(log.locator("details[open]")).to_have_count(0)  # The card says it above.
    log.get_by_text("Request", exact=True).last.click()
    expect(log).to_contain_text("zumo-api-version: 2.0.0", ignore_case=True)
    expect(log).to_contain_text("idempotency-key:", ignore_case=True)
    expect(log).to_contain_text('"text": "recorded"')
    expect(log).to_contain_text("content-type: application/json", ignore_case=True)
    expect(log.locator("li").last).to_contain_text("It waits for your decision")
    page.accessible()
    # An unfolded row stays unfolded when an event arrives.
    proxy.insert({"text": "news"})
    expect(rows(page).filter(has_text="news")).to_have_count(1)
    expect(log.locator("details[open]")).to_have_count(1)


def test_very_many_are_discarded_part_by_part_stopped_and_taken_back(pair, dashboard, many):
    _, proxy = pair
    many(proxy, ({"text": f"t{n:04}"} for n in range(1200)))
    page = dashboard(proxy)
    page.open("queue")
    page.page.get_by_role("button", name="Discard all 1,200").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("1,200 operations match")
    # The second part is held back until the work was stopped.
    page.page.route("**/operations/discard*", lambda route: None
                    if '"after":"' in (route.request.post_data or "") else route.continue_())
    page.confirm("Discard 1,200 unsent changes")
    work = page.page.get_by_role("dialog")
    expect(work).to_contain_text("500 of 1,200")
    page.accessible()
    work.get_by_role("button", name="Stop").click()
    page.page.unroute("**/operations/discard*")  # The part that was held back goes on.
    page.toast("1,000 discarded")
    expect(page.page.locator(".bulk .count")).to_have_text("200 operations")
    page.undo()
    page.toast("1,000 decisions undone")
    expect(page.page.locator(".bulk .count")).to_have_text("1,200 operations")
    assert len(proxy.all()) == 1200


def test_a_range_reaches_rows_that_are_scrolled_away_and_stays_after_a_cancel(pair, dashboard, many):
    _, proxy = pair
    many(proxy, ({"text": f"t{n:03}"} for n in range(800)))
    page = dashboard(proxy)
    page.open("queue")
    at = lambda place: page.page.locator(f'[aria-posinset="{place}"]')
    count = page.page.locator(".bulk .count")
    for place in range(40, 601, 40):
        at(place).scroll_into_view_if_needed()
    at(600).get_by_role("checkbox").check()
    page.page.evaluate("document.activeElement.blur()")  # A row with the focus stays in the page.
    for place in range(640, 801, 40):
        at(place).scroll_into_view_if_needed()
    expect(at(600)).to_have_count(0)
    expect(page.page.locator(".bulk")).to_be_in_viewport()
    at(800).get_by_role("checkbox").click(modifiers=["Shift"])
    expect(count).to_have_text("201 selected")
    page.page.get_by_role("button", name="Discard 201").click()
    page.confirm("Cancel")
    expect(count).to_have_text("201 selected")


def test_no_range_is_selected_where_the_list_has_changed(refused, dashboard):
    _, proxy = refused
    page = dashboard(proxy)
    answers = {}

    def always_the_first_answer(route):
        url = route.request.url
        if "limit=40" not in url:
            return route.continue_()
        answers[url] = answers.get(url) or route.fetch().text()
        route.fulfill(body=answers[url], content_type="application/json")

    # The page is not told that the first one is gone.
    page.page.route("**/operations?*", always_the_first_answer)
    page.open("queue?state=quarantined")
    page.page.get_by_label("Select “refused 2”").check()
    first = proxy.operator("GET", "/operations?state=quarantined")["items"][0]
    proxy.operator("POST", f"/operations/{first['id']}/discard", json={"revision": first["revision"]})
    page.page.get_by_label("Select “refused 5”").click(modifiers=["Shift"])
    page.toast("The list changed meanwhile")
    expect(page.page.locator(".bulk .count")).to_have_text("1 selected")


def test_what_arrives_takes_no_focus(refused, dashboard):
    _, proxy = refused
    page = dashboard(proxy)
    page.open("queue")
    page.page.get_by_role("button", name="Discard all 8").focus()
    proxy.insert({"text": "news"})
    expect(page.page.get_by_role("button", name="Discard all 9")).to_be_focused()


def test_what_was_done_before_the_work_broke_off_can_be_taken_back(pair, dashboard, many):
    _, proxy = pair
    many(proxy, ({"text": f"t{n:03}"} for n in range(600)))
    page = dashboard(proxy)
    page.open("queue")
    page.page.route("**/operations/discard*", lambda route: route.abort()
                    if '"after":"' in (route.request.post_data or "") else route.continue_())
    page.page.get_by_role("button", name="Discard all 600").click()
    page.confirm("Discard 600 unsent changes")
    page.toast("500 discarded. Understudy itself does not answer")
    page.undo()
    page.toast("500 decisions undone")
    assert proxy.status()["queue"]["queued"] == 600


def test_the_first_screen_shows_the_list(refused, dashboard):
    page = dashboard(refused[1], viewport={"width": 1440, "height": 900})
    page.open("queue")
    expect(rows(page)).to_have_count(8)
    expect(page.page.locator(".cause-part > summary")).to_contain_text("7 × ")
    for part in (".overview", ".cause-part"):
        assert page.page.locator(part).bounding_box()["height"] <= 48, f"{part} is one line"
    last = rows(page).nth(7).bounding_box()
    messages = page.page.locator(".messages").bounding_box()
    assert last["y"] + last["height"] <= messages["y"], "all eight are on the first screen"
    page.page.locator(".cause-part > summary").click()
    expect(page.page.locator(".causes")).to_be_visible()
    page.page.reload()
    expect(page.page.locator(".causes")).to_be_visible()


def test_a_refusal_is_told_once_in_its_card(refused, dashboard):
    page = dashboard(refused[1])
    page.open("queue?state=quarantined")
    rows(page).first.locator("[data-open]").click()
    card = page.page.locator(".side .card")
    said = card.locator(".last-answer")
    expect(said).to_be_visible()
    message = said.inner_text().split(" ", 1)[1]
    assert card.inner_text().count(message) == 1
    expect(card).not_to_contain_text("The backend refused it")
    card.get_by_text("Answer", exact=True).click()
    expect(card.locator("pre:visible")).to_contain_text("Content-Type")
