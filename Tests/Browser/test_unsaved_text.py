"""What a person typed is not lost, whatever happens before it is saved."""

import json

import pytest
from playwright.sync_api import expect
from programs import wait_until

TABLES = ["todoitem", "notes"]
OWN = ("id", "text", "note", "complete")


def own(row):
    """A row without what the programs write into it."""
    return {name: row[name] for name in OWN if name in row}


def everywhere(backend, proxy):
    """The rows on both sides, after all changes were sent."""
    proxy.sync()
    return [own(row) for row in backend.all()], [own(row) for row in proxy.all()]


@pytest.fixture
def clashing(pair):
    backend, proxy = pair
    for id in "ab":
        backend.insert({"id": id, "text": f"base {id}", "note": "", "complete": False})
    proxy.sync()
    for id in "ab":
        proxy.update(id, {"text": f"mine {id}"})
        backend.update(id, {"text": f"theirs {id}"})
    proxy.sync()
    assert proxy.operator("GET", "/conflicts")["total"] == 2
    return backend, proxy


@pytest.fixture
def rows(pair):
    """Two rows on both sides."""
    backend, proxy = pair
    for id in "ab":
        backend.insert({"id": id, "text": f"row {id}", "note": f"note {id}", "complete": False})
    proxy.sync()
    return backend, proxy


def row(id, text, note=""):
    return {"id": id, "text": text, "note": note, "complete": False}


def decide_both(page, other):
    """Saves the merged text of the conflict that is shown, and decides the other one with a button."""
    page.get_by_role("button", name="Save this version").click()
    expect(page.locator(".position")).to_have_text("1 of 1")
    page.get_by_role("button", name=other, exact=True).click()
    expect(page.locator(".conflict")).to_have_count(0)


@pytest.mark.parametrize("presses", [1, 2])
def test_a_merged_text_stays_while_understudy_is_away(clashing, dashboard, presses):
    backend, proxy = clashing
    page = dashboard(proxy).open("conflicts")
    result, save = page.get_by_label("Result: text"), page.get_by_role("button", name="Save this version")
    expect(result).to_have_value("mine a")
    result.fill("merged with care")
    proxy.program.kill()
    for _ in range(presses):
        page.locator("#toast").evaluate("toast => toast.hidden = true")
        save.click()
        expect(page.locator("#toast")).to_contain_text("does not answer")
    expect(result).to_have_value("merged with care")
    proxy.start()
    expect(page.locator("#notice")).to_be_empty(timeout=20_000)
    expect(page.locator("#conflict-title")).to_contain_text("mine a")
    expect(result).to_have_value("merged with care")
    decide_both(page, "Keep yours")
    expected = [row("a", "merged with care"), row("b", "mine b")]
    assert everywhere(backend, proxy) == (expected, expected)


LEAVE_AND_RETURN = {
    "next": lambda page: (page.get_by_role("button", name="Next").click(),
                          expect(page.locator("#conflict-title")).to_contain_text("mine b"),
                          page.get_by_role("button", name="Previous").click()),
    "not now": lambda page: (page.get_by_role("link", name="Not now").click(),
                             expect(page.locator(".todos")).to_be_visible(),
                             page.go_back()),
    "reload": lambda page: page.reload(),
}


@pytest.mark.parametrize("way", LEAVE_AND_RETURN)
def test_a_merged_text_is_there_when_the_person_returns_to_the_conflict(clashing, dashboard, way):
    backend, proxy = clashing
    page = dashboard(proxy).open("conflicts")
    page.on("dialog", lambda dialog: dialog.accept())  # The browser may ask before a reload.
    result = page.get_by_label("Result: text")
    result.fill("merged with care")
    page.get_by_role("radio", name="Use the server’s for text").focus()
    LEAVE_AND_RETURN[way](page)
    expect(page.locator("#conflict-title")).to_contain_text("mine a")
    expect(result).to_have_value("merged with care")
    expect(page.locator(".conflict")).to_contain_text("This text is not saved yet.")
    decide_both(page, "Keep the server’s")
    expected = [row("a", "merged with care"), row("b", "theirs b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_text_typed_for_a_conflict_that_was_decided_elsewhere_can_be_copied(clashing, dashboard):
    _, proxy = clashing
    one = dashboard(proxy)
    page = one.open("conflicts")
    page.get_by_label("Result: text").fill("merged with care")
    conflict = proxy.operator("GET", "/conflicts")["items"][0]
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json={
        "revision": conflict["revision"], "choice": "mine"})
    expect(page.locator("#conflict-title")).to_contain_text("mine b")
    expect(page.locator(".left-text pre")).to_have_text("text: merged with care")
    one.accessible()
    page.get_by_role("button", name="Give up this text").click()
    expect(page.locator(".left-text")).to_have_count(0)
    expect(page.locator(".unsaved")).to_have_count(0)


def test_letters_arrive_while_the_pointer_rests_on_another_choice(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy).open("conflicts")
    result = page.get_by_label("Result: text")
    page.get_by_role("button", name="Keep the server’s", exact=True).hover()
    expect(result).to_have_value("theirs a")
    result.focus()
    expect(result).to_have_value("mine a")
    page.keyboard.press("End")
    page.keyboard.type(" and more")
    expect(result).to_have_value("mine a and more")
    # The next letter goes to where the cursor was, whatever the field shows meanwhile.
    page.keyboard.press("ArrowLeft")
    page.locator("h1").hover()
    page.get_by_role("button", name="Keep the server’s", exact=True).hover()
    expect(result).to_have_value("theirs a")
    page.keyboard.type("!")
    expect(result).to_have_value("mine a and mor!e")
    page.get_by_role("button", name="Save this version").click()
    expect(page.locator(".position")).to_have_text("1 of 1")
    page.get_by_role("button", name="Keep yours", exact=True).click()
    expect(page.locator(".conflict")).to_have_count(0)
    expected = [row("a", "mine a and mor!e"), row("b", "mine b")]
    assert everywhere(backend, proxy) == (expected, expected)


def open_row(page, id):
    page.locator(".grid").get_by_role("button", name=id, exact=True).click()
    expect(page.locator("#row-title")).to_have_text(id)
    return page.locator("article").get_by_label("text", exact=True)


@pytest.mark.parametrize("way", ["another row", "sorted", "new row", "closed", "reload"])
def test_the_text_of_a_row_is_there_when_the_person_returns_to_it(rows, dashboard, way):
    backend, proxy = rows
    one = dashboard(proxy)
    page = one.open("tables/todoitem")
    page.on("dialog", lambda dialog: dialog.accept())
    open_row(page, "a").fill("many words")
    if way == "another row":
        expect(open_row(page, "b")).to_have_value("row b")
    elif way == "sorted":
        page.get_by_role("button", name="text: not sorted").click()
    elif way == "new row":
        page.get_by_role("button", name="New row").click()
        page.locator("article").get_by_label("note").fill("a new one")
    elif way == "closed":
        page.get_by_role("button", name="Close").click()
    else:
        page.reload()
    line = page.locator(".unsaved")
    expect(line).to_have_text("Unsaved text: a")
    if way == "reload":
        one.accessible()
    line.get_by_role("link", name="a", exact=True).click()
    text = page.locator("article").get_by_label("text", exact=True)
    expect(text).to_have_value("many words")
    expect(line).to_have_count(0)
    expect(page.locator("article")).to_contain_text("This text is not saved yet.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("Saved")
    expected = [row("a", "many words", "note a"), row("b", "row b", "note b")]
    if way == "new row":
        expect(page.get_by_role("button", name="New row unsaved text")).to_be_visible()
        page.get_by_role("button", name="New row unsaved text").click()
        page.locator("article").get_by_label("id", exact=True).fill("c")
        page.get_by_role("button", name="Add row").click()
        expect(page.locator("#toast")).to_contain_text("added")
        expected.append({"id": "c", "note": "a new one"})
    expect(line).to_have_count(0)
    ours, theirs = everywhere(backend, proxy)
    filled = [{name: value for name, value in one.items() if value is not None} for one in theirs]
    assert ours == expected and filled == expected


def test_the_text_of_a_row_is_given_up_only_by_a_button(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    open_row(page, "b")
    open_row(page, "a")
    page.get_by_role("button", name="Give up this text").click()
    expect(page.locator("article")).to_have_count(0)
    expect(page.locator(".unsaved")).to_have_count(0)
    expect(open_row(page, "a")).to_have_value("row a")
    expected = [row("a", "row a", "note a"), row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_row_is_not_saved_over_a_newer_one_unseen(rows, dashboard):
    backend, proxy = rows
    one = dashboard(proxy)
    page = one.open("tables/todoitem")
    text = open_row(page, "a")
    text.fill("many words")
    backend.update("a", {"text": "a long text of theirs"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=20", json={})
    expect(page.locator(".grid")).to_contain_text("a long text of theirs")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("was changed while you edited it")
    expect(text).to_have_value("many words")
    expect(page.locator("article")).to_contain_text("The row has now: “\u2068a long text of theirs\u2069”")
    one.accessible()
    expected = [row("a", "a long text of theirs", "note a"), row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("Saved")
    expected[0]["text"] = "many words"
    assert everywhere(backend, proxy) == (expected, expected)


def test_an_edit_is_saved_above_a_row_that_differs_in_other_columns(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    backend.update("a", {"note": "a note of theirs"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=20", json={})
    expect(page.locator(".grid")).to_contain_text("a note of theirs")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("Saved")
    expected = [row("a", "many words", "a note of theirs"), row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_text_that_goes_on_after_a_newer_row_came_is_about_the_old_one(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    page.get_by_role("button", name="Close").click()
    backend.update("a", {"text": "a long text of theirs"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=20", json={})
    expect(page.locator(".grid")).to_contain_text("a long text of theirs")
    expect(open_row(page, "a")).to_have_value("many words")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("article")).to_contain_text("The row has now")
    expected = [row("a", "a long text of theirs", "note a"), row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_text_typed_for_a_row_that_is_gone_can_be_copied(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    page.get_by_role("button", name="Close").click()
    backend.delete("a")
    proxy.operator("POST", "/tables/todoitem/pull?wait=20", json={})
    expect(page.locator(".grid tbody tr")).to_have_count(1)
    page.locator(".unsaved").get_by_role("link", name="a", exact=True).click()
    expect(page.locator(".left-text pre")).to_have_text("text: many words")
    page.get_by_role("button", name="Give up this text").click()
    expect(page.locator(".left-text")).to_have_count(0)
    expect(page.locator(".unsaved")).to_have_count(0)


@pytest.fixture
def queued(pair):
    """Two inserts that wait to be sent."""
    backend, proxy = pair
    for id in "ab":
        proxy.insert({"id": id, "text": f"queued {id}", "note": "", "complete": False})
    return backend, proxy


def edit_operation(page, title):
    page.locator(".operations li").filter(has_text=title).locator("[data-open]").click()
    expect(page.locator("#operation-title")).to_contain_text(title)
    page.get_by_role("button", name="Edit", exact=True).click()
    return page.get_by_label("What is sent")


TYPED = json.dumps(row("a", "typed with care"))


@pytest.mark.parametrize("way", ["another operation", "closed", "reload"])
def test_what_an_operation_sends_is_there_as_it_was_typed(queued, dashboard, way):
    backend, proxy = queued
    page = dashboard(proxy).open("queue")
    page.on("dialog", lambda dialog: dialog.accept())
    edit_operation(page, "queued a").fill(TYPED)
    other = page.locator(".operations li").filter(has_text="queued b")
    this = page.locator(".operations li").filter(has_text="queued a")
    if way == "another operation":
        other.locator("[data-open]").click()
        expect(page.locator("#operation-title")).to_contain_text("queued b")
        expect(page.get_by_label("What is sent")).to_have_count(0)
    elif way == "closed":
        page.locator("article").get_by_role("button", name="Close").click()
    if way == "reload":
        page.reload()
    else:
        expect(this).to_contain_text("unsaved text")
        page.locator(".unsaved").get_by_role("link").click()
    expect(page.get_by_label("What is sent")).to_have_value(TYPED)
    page.get_by_role("button", name="Save and send again").click()
    expect(page.locator("#toast")).to_contain_text("Changed.")
    expect(page.locator(".unsaved-mark")).to_have_count(0)
    expected = [row("a", "typed with care"), row("b", "queued b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_an_operation_is_not_saved_over_a_newer_one_unseen(queued, dashboard):
    backend, proxy = queued
    page = dashboard(proxy).open("queue")
    # The later insert: an update of the first one would follow it as an operation of its own.
    typed = json.dumps(row("b", "typed with care"))
    field = edit_operation(page, "queued b")
    field.fill(typed)
    proxy.update("b", {"text": "changed by a client"})
    page.get_by_role("button", name="Save and send again").click()
    expect(page.locator("#toast")).to_contain_text("It has changed meanwhile")
    expect(field).to_have_value(typed)
    expect(page.locator(".editor")).to_contain_text("changed by a client")
    page.get_by_role("button", name="Save and send again").click()
    expect(page.locator("#toast")).to_contain_text("Changed.")
    expected = [row("a", "queued a"), row("b", "typed with care")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_text_typed_for_an_operation_that_was_sent_can_be_copied(queued, dashboard):
    backend, proxy = queued
    page = dashboard(proxy).open("queue")
    edit_operation(page, "queued a").fill(TYPED)
    page.locator("article").get_by_role("button", name="Close").click()
    proxy.sync()
    page.locator(".unsaved").get_by_role("link").click()
    expect(page.locator(".left-text pre")).to_have_text(TYPED)
    page.get_by_role("button", name="Give up this text").click()
    expect(page.locator(".left-text")).to_have_count(0)


def test_an_undo_that_got_no_answer_is_offered_again(rows, dashboard):
    backend, proxy = rows
    one = dashboard(proxy)
    page = one.open("tables/todoitem")
    open_row(page, "a")
    page.get_by_role("button", name="Delete").click()
    one.confirm("Delete")
    expect(page.locator(".grid tbody tr")).to_have_count(1)
    proxy.program.kill()
    one.undo()
    expect(page.locator("#toast")).to_contain_text("does not answer")
    expect(page.locator("#toast").get_by_role("button", name="Undo")).to_be_visible()
    proxy.start()
    expect(page.locator("#notice")).to_be_empty(timeout=20_000)
    page.keyboard.press("u")
    expect(page.locator(".grid tbody tr")).to_have_count(2)
    expected = [row("a", "row a", "note a"), row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_sign_in_that_ended_is_said_and_what_is_typed_stays(pair, dashboard):
    backend, proxy = pair
    backend.insert(row("a", "row a"))
    proxy.sync()
    one = dashboard(proxy)
    page = one.open("tables/todoitem")
    text = open_row(page, "a")
    text.fill("many words")
    for session in json.loads(proxy.command("sessions", "list", "--json").stdout)["items"]:
        proxy.command("sessions", "revoke", session["id"])
    expect(page.locator("#notice")).to_contain_text("no longer signed in")
    expect(page.locator("#notice")).to_contain_text("understudy open")
    expect(page.locator(".pill")).to_have_text("Not signed in")
    expect(page.locator("#connection")).not_to_contain_text("Everything is on the server")
    expect(text).to_have_value("many words")
    one.accessible()
    # A link that is opened in another tab signs this one in as well.
    other = one.context.new_page()
    other.goto(proxy.operator("POST", "/links", expect=201, json={})["url"])
    expect(page.locator("#notice")).to_be_empty(timeout=20_000)
    expect(page.locator(".pill")).not_to_have_text("Not signed in")
    expect(text).to_have_value("many words")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("Saved")
    other.close()
    expected = [row("a", "many words")]
    assert everywhere(backend, proxy) == (expected, expected)


class Held:
    """Requests of one kind that are held until the test lets them go."""

    def __init__(self, page, method, pattern):
        self.page, self.method, self.routes = page, method, []
        self.count = 0
        page.route(pattern, self._hold)

    def _hold(self, route):
        if route.request.method != self.method:
            return route.fallback()
        self.count += 1
        if self.routes is None:
            return route.continue_()
        self.routes.append(route)

    def wait(self):
        """Waits until one is on its way."""
        wait_until(lambda: self.page.evaluate("1") and self.routes, what="a request")

    def let_go(self):
        routes, self.routes = self.routes, None
        for route in routes:
            route.continue_()


def test_a_double_click_decides_one_conflict(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy, viewport={"width": 1280, "height": 1100}).open("conflicts")
    page.get_by_role("button", name="Keep yours", exact=True).hover()
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".position")).to_have_text("1 of 1")
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    page.get_by_role("button", name="Keep the server’s", exact=True).click()
    expect(page.locator(".conflict")).to_have_count(0)
    expected = [row("a", "mine a"), row("b", "theirs b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_double_click_saves_a_row_once(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    held = Held(page, "PATCH", "**/tables/todoitem/a")
    page.get_by_role("button", name="Save", exact=True).dblclick()
    held.wait()
    held.let_go()
    expect(page.locator("#toast")).to_contain_text("Saved")
    expect(page.locator("article")).to_have_count(0)
    page.get_by_role("button", name="New row").click()
    page.locator("article").get_by_label("note").fill("a new one")
    adding = Held(page, "POST", "**/tables/todoitem")
    page.get_by_role("button", name="Add row").dblclick()
    adding.wait()
    adding.let_go()
    expect(page.locator("#toast")).to_contain_text("added")
    expect(page.locator(".grid tbody tr")).to_have_count(3)
    expect(page.locator(".unsaved")).to_have_count(0)
    assert (held.count, adding.count) == (1, 1)
    ours, theirs = everywhere(backend, proxy)
    [made] = [one["id"] for one in ours if one["id"] not in "ab"]
    expected = {"a": row("a", "many words", "note a"), "b": row("b", "row b", "note b"),
                made: {"id": made, "note": "a new one"}}
    filled = [{name: value for name, value in one.items() if value is not None} for one in theirs]
    assert {one["id"]: one for one in ours} == expected
    assert {one["id"]: one for one in filled} == expected


def test_what_is_typed_while_a_row_is_saved_stays(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    text = open_row(page, "a")
    text.fill("many words")
    held = Held(page, "PATCH", "**/tables/todoitem/a")
    page.get_by_role("button", name="Save", exact=True).click()
    held.wait()
    text.fill("many words and more")
    held.let_go()
    expect(page.locator("#toast")).to_contain_text("Saved")
    expect(text).to_have_value("many words and more")
    expected = [row("a", "many words", "note a"), row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("article")).to_have_count(0)
    expected[0]["text"] = "many words and more"
    assert everywhere(backend, proxy) == (expected, expected)


def test_what_is_typed_while_a_row_is_added_is_an_edit_of_it(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    page.get_by_role("button", name="New row").click()
    page.locator("article").get_by_label("id", exact=True).fill("c")
    text = page.locator("article").get_by_label("text", exact=True)
    text.fill("new")
    held = Held(page, "POST", "**/tables/todoitem")
    page.get_by_role("button", name="Add row").click()
    held.wait()
    text.fill("new and more")
    held.let_go()
    expect(page.locator("#row-title")).to_have_text("c")
    expect(text).to_have_value("new and more")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("article")).to_have_count(0)
    expect(page.get_by_role("button", name="New row")).not_to_contain_text("unsaved")
    expected = [row("a", "row a", "note a"), row("b", "row b", "note b"),
                {"id": "c", "text": "new and more"}]
    ours, theirs = everywhere(backend, proxy)
    filled = [{name: value for name, value in one.items() if value is not None} for one in theirs]
    assert ours == expected and filled == expected


def test_a_draft_keeps_of_the_row_only_what_was_changed(rows, dashboard):
    _, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    stored = page.evaluate("Object.values(sessionStorage).join()")
    assert "many words" in stored and "row a" in stored and "note a" not in stored


def test_a_text_typed_for_a_deleted_row_is_no_disabled_field(rows, dashboard):
    backend, proxy = rows
    page = dashboard(proxy).open("tables/todoitem?deleted=yes")
    open_row(page, "a").fill("many words")
    page.get_by_role("button", name="Close").click()
    proxy.delete("a")
    expect(page.locator(".grid tbody tr.done")).to_have_count(1)
    page.locator(".unsaved").get_by_role("link", name="a", exact=True).click()
    expect(page.locator(".left-text pre")).to_have_text("text: many words")
    page.locator(".grid").get_by_role("button", name="b", exact=True).click()
    expect(page.locator(".left-text")).to_have_count(0)
    page.locator(".grid").get_by_role("button", name="a", exact=True).click()
    expect(page.locator(".left-text pre")).to_have_text("text: many words")
    page.get_by_role("button", name="Give up this text").click()
    expect(page.locator(".unsaved")).to_have_count(0)
    expected = [row("b", "row b", "note b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_unsaved_text_of_another_table_has_a_link(pair, dashboard):
    backend, proxy = pair
    backend.insert(row("a", "row a", "note a"))
    proxy.sync()
    proxy.insert({"id": "n", "text": "a note"}, table="notes")
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    page.goto(f"{proxy.url}/-/#/tables/notes")
    expect(page.locator(".grid")).to_contain_text("a note")
    page.locator(".unsaved").get_by_role("link", name="todoitem: a").click()
    expect(page.locator("#row-title")).to_have_text("a")
    expect(page.locator("article").get_by_label("text", exact=True)).to_have_value("many words")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("article")).to_have_count(0)
    expected = [row("a", "many words", "note a")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_escape_keeps_what_an_operation_would_send(queued, dashboard):
    backend, proxy = queued
    page = dashboard(proxy).open("queue")
    field = edit_operation(page, "queued a")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    page.get_by_role("button", name="Edit", exact=True).click()
    field.fill(TYPED)
    field.dispatch_event("keydown", {"key": "Escape", "isComposing": True})
    expect(field).to_have_value(TYPED)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("article")).to_have_count(0)
    page.locator(".unsaved").get_by_role("link").click()
    expect(field).to_have_value(TYPED)
    page.get_by_role("button", name="Give up this text").click()
    expect(field).to_have_count(0)
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(field).not_to_have_value(TYPED)
    expected = [row("a", "queued a"), row("b", "queued b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_what_is_typed_while_an_operation_is_saved_stays(queued, dashboard):
    backend, proxy = queued
    page = dashboard(proxy).open("queue")
    field = edit_operation(page, "queued a")
    field.fill(TYPED)
    held = Held(page, "PATCH", "**/operations/**")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+Enter")
    held.wait()
    more = json.dumps(row("a", "typed with care, and more"))
    field.fill(more)
    held.let_go()
    expect(page.locator("#toast")).to_contain_text("Changed.")
    expect(field).to_have_value(more)
    page.get_by_role("button", name="Save and send again").click()
    expect(field).to_have_count(0)
    expect(page.locator("#operation-title")).to_be_focused()
    assert held.count == 2
    expected = [row("a", "typed with care, and more"), row("b", "queued b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_an_undo_brings_back_the_merged_text_and_the_way_to_the_other_conflict(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy).open("conflicts")
    result = page.get_by_label("Result: text")
    result.fill("merged with care")
    page.get_by_role("button", name="Keep the server’s", exact=True).click()
    expect(page.locator(".position")).to_have_text("1 of 1")
    expect(page.get_by_role("button", name="Next")).to_have_count(0)
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".position")).to_have_text("1 of 2")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#conflict-title")).to_contain_text("mine a")
    expect(result).to_have_value("merged with care")
    expect(page.locator(".conflict")).not_to_contain_text("changed meanwhile")
    decide_both(page, "Keep yours")
    expected = [row("a", "merged with care"), row("b", "mine b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_chosen_side_is_its_value_as_it_is_now(clashing, dashboard):
    backend, proxy = clashing
    one = dashboard(proxy)
    page = one.open("conflicts")
    page.get_by_role("radio", name="Use the server’s for text").check()
    page.get_by_role("link", name="Not now").click()
    expect(page.locator(".todos")).to_be_visible()
    backend.update("a", {"text": "theirs a, newer"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=20", json={})
    page.go_back()
    expect(page.get_by_label("Result: text")).to_have_value("theirs a, newer")
    expect(page.get_by_role("radio", name="Use the server’s for text")).to_be_checked()
    expect(page.locator(".conflict")).to_contain_text("has changed meanwhile")
    one.accessible()
    page.get_by_role("button", name="Save this version").click()
    expect(page.locator(".position")).to_have_text("1 of 1")
    page.get_by_role("button", name="Keep yours", exact=True).click()
    expect(page.locator(".conflict")).to_have_count(0)
    expected = [row("a", "theirs a, newer"), row("b", "mine b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_what_is_typed_while_a_conflict_is_decided_can_be_copied_and_given_up(clashing, dashboard):
    backend, proxy = clashing
    page = dashboard(proxy).open("conflicts")
    result = page.get_by_label("Result: text")
    held = Held(page, "POST", "**/conflicts/*/resolve")
    page.get_by_role("button", name="Keep yours", exact=True).click()
    held.wait()
    result.focus()  # The pointer rests on a choice.
    result.fill("merged too late")
    held.let_go()
    expect(page.locator("#conflict-title")).to_contain_text("mine b")
    expect(page.locator(".left-text pre")).to_have_text("text: merged too late")
    [other] = proxy.operator("GET", "/conflicts")["items"]
    page.goto(f"{proxy.url}/-/#/conflicts/{other['id']}")
    expect(page.locator(".left-text")).to_have_count(0)
    page.locator(".unsaved").get_by_role("link").click()
    page.get_by_role("button", name="Give up this text").click()
    expect(page.locator(".left-text")).to_have_count(0)
    expect(page.locator(".unsaved")).to_have_count(0)
    page.get_by_role("button", name="Keep yours", exact=True).click()
    expect(page.locator(".conflict")).to_have_count(0)
    expected = [row("a", "mine a"), row("b", "mine b")]
    assert everywhere(backend, proxy) == (expected, expected)


def test_a_row_with_unsaved_text_that_cannot_be_read_is_said(rows, dashboard):
    _, proxy = rows
    page = dashboard(proxy).open("tables/todoitem")
    open_row(page, "a").fill("many words")
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Filter").fill("text eq 'no such'")
    page.keyboard.press("Enter")
    expect(page.locator(".grid")).to_have_count(0)
    page.route("**/items?**includeDeleted=true**", lambda route: route.abort())
    page.locator(".unsaved").get_by_role("link", name="a", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("does not answer")
    page.unroute("**/items?**includeDeleted=true**")
    expect(page.locator(".unsaved")).to_have_text("Unsaved text: a")
