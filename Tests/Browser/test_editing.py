"""A person never loses a word: whatever happens to a row, to the proxy or to the page while a text is typed."""

import re
import signal
from pathlib import Path

import pytest
from programs import sign_in, wait_until
from playwright.sync_api import expect

SYSTEM = ("createdAt", "updatedAt", "version")
FIELD = "Todo text"
NEW = "What needs doing?"


def rows(server):
    """Every row with all columns but those that each server fills in itself."""
    return {row["id"]: {name: value for name, value in row.items() if name not in SYSTEM}
            for row in server.all()}


def row(id, text, complete=False):
    return {id: {"id": id, "text": text, "complete": complete, "deleted": False}}


@pytest.fixture
def opened(pair, dashboard):
    """A backend with these todos, a proxy that has them and sends only when asked, and the page."""
    backend, proxy = pair

    def open_page(*texts, **columns):
        for id, text in zip("abcdefg", texts):
            backend.insert({"id": id, "text": text, "complete": False, **columns})
        proxy.sync()
        page = dashboard(proxy)
        expect(page.page.locator(".todos li")).to_have_count(len(texts))
        return backend, proxy, page

    return open_page


def edit(page, title):
    page.page.get_by_role("button", name=f"Edit “{title}”", exact=True).click()
    return page.page.get_by_label(FIELD)


def note(page):
    return page.page.locator(".edit-note")


def choose(page, label):
    note(page).get_by_role("button", name=label, exact=True).click()


def has_stopped(pid):
    """Whether each thread of the process has stopped."""
    try:
        threads = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    except FileNotFoundError:  # A thread ended meanwhile.
        return False
    return {thread.rsplit(")", 1)[1].split()[0] for thread in threads} == {"T"}


def test_a_text_that_could_not_be_saved_stays_in_its_field(opened):
    backend, proxy, page = opened("alpha", "bravo")
    field = edit(page, "alpha")
    field.fill("alpha with a long thought")
    proxy.program.kill()
    field.press("Enter")
    expect(note(page)).to_contain_text("Not saved")
    expect(field).to_have_value("alpha with a long thought")
    expect(field).to_be_focused()
    proxy.start()
    page.page.reload()
    expect(field).to_have_value("alpha with a long thought")
    field.press("Enter")
    expect(field).to_have_count(0)
    expected = row("a", "alpha with a long thought") | row("b", "bravo")
    assert rows(proxy) == expected
    proxy.sync()
    assert rows(backend) == expected


def test_a_save_that_takes_long_is_said_and_ends_by_itself(opened):
    _, proxy, page = opened("alpha")
    field = edit(page, "alpha")
    field.fill("alpha later")
    process = proxy.program.process
    process.send_signal(signal.SIGSTOP)
    try:
        # On busy cores a thread still answers for a while after the signal was sent.
        wait_until(lambda: has_stopped(process.pid), what="the stop of the proxy")
        field.press("Enter")
        expect(note(page)).to_have_text("Saving…")
        expect(field).to_have_value("alpha later")
        field.press_sequentially(" and more")
    finally:
        process.send_signal(signal.SIGCONT)
    expect(note(page)).to_be_hidden()
    wait_until(lambda: rows(proxy) == row("a", "alpha later"))
    expect(field).to_have_value("alpha later and more")
    field.press("Enter")
    expect(field).to_have_count(0)
    assert rows(proxy) == row("a", "alpha later and more")


def test_a_row_that_is_deleted_elsewhere_keeps_its_field_and_can_be_added_again(opened):
    backend, proxy, page = opened("alpha", "bravo", "charlie")
    edit(page, "bravo")
    keys = page.page.keyboard
    keys.type("call ")
    backend.delete("b")
    proxy.sync()
    expect(note(page)).to_contain_text("It was deleted meanwhile")
    keys.type("jim #p about the bill")
    expect(page.page.get_by_label(FIELD)).to_have_value("call jim #p about the bill")
    keys.press("Enter")  # There is nothing to save it in.
    kept = row("a", "alpha") | row("c", "charlie")
    assert rows(proxy) == kept
    choose(page, "Add as a new one")
    expect(page.page.get_by_label(FIELD)).to_have_count(0)
    expect(page.page.get_by_role("button", name="Edit “call jim #p about the bill”")).to_be_visible()
    proxy.sync()
    [new] = rows(backend).keys() - kept.keys()
    assert rows(backend) == rows(proxy) == kept | row(new, "call jim #p about the bill")
    assert proxy.status()["mode"]["mode"] == "online"


def test_an_untouched_field_of_a_row_that_is_deleted_elsewhere_waits_for_the_person(opened):
    backend, proxy, page = opened("alpha", "bravo")
    edit(page, "bravo")
    backend.delete("b")
    proxy.sync()
    expect(note(page)).to_contain_text("It was deleted meanwhile")
    expect(page.page.get_by_label(FIELD)).to_be_focused()
    page.page.keyboard.press("Escape")
    expect(page.todo("bravo")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Edit “alpha”")).to_be_focused()
    assert rows(proxy) == row("a", "alpha")


def test_keys_after_a_field_that_left_the_page_are_no_commands(opened):
    _, proxy, page = opened("alpha", "bravo")
    edit(page, "alpha")
    page.page.keyboard.type("proj")
    # In one go, since the page waits for a pause in the typing.
    page.page.evaluate("""async () => {
      const press = (key) =>
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      press("e");
      location.hash = "#/history";
      await new Promise((done) => addEventListener("hashchange", done, { once: true }));
      for (const key of "gc?p#u") press(key);
    }""")
    expect(page.page.locator(".todos")).to_have_count(0)
    assert page.page.url.endswith("#/history")
    expect(page.page.get_by_role("dialog")).to_have_count(0)
    page.page.evaluate("location.hash = '#/todos'")
    expect(page.page.get_by_label(FIELD)).to_have_value("proj")
    assert rows(proxy) == row("a", "alpha") | row("b", "bravo")
    assert proxy.status()["mode"]["mode"] == "online"


def test_a_text_that_nobody_changed_is_not_saved(opened):
    texts = ["line one\nline two", "  spaced  ", "other\r\nends", ""]
    _, proxy, page = opened(*texts)
    before = rows(proxy)
    for title in ["line one\nline two", "spaced", "other\r\nends", "(no text)"]:
        page.page.get_by_role("button", name=f"Edit “{title}”", exact=True).click()
        expect(page.page.get_by_label(FIELD)).to_be_focused()
        page.page.get_by_label("Search todos").click()
        expect(page.page.get_by_label(FIELD)).to_have_count(0)
    assert rows(proxy) == before
    assert proxy.operator("GET", "/operations")["total"] == 0


def test_a_text_of_several_lines_is_edited_in_several_lines(opened):
    backend, proxy, page = opened("one\r\ntwo")
    field = edit(page, "one\r\ntwo")
    field.press("End")
    height = field.bounding_box()["height"]
    field.press("Shift+Enter")
    field.press_sequentially("three")
    assert field.bounding_box()["height"] > height
    field.press("Enter")
    expect(field).to_have_count(0)
    proxy.sync()
    assert rows(proxy) == rows(backend) == row("a", "one\r\ntwo\r\nthree")


@pytest.mark.parametrize("choice, text", [("Keep mine", "mine"), ("Take theirs", "THEIRS long note")])
def test_a_newer_text_is_shown_and_the_person_chooses(opened, choice, text):
    backend, proxy, page = opened("alpha", "bravo")
    field = edit(page, "alpha")
    field.fill("mine")
    backend.update("a", {"text": "THEIRS long note"})
    proxy.sync()
    expect(note(page)).to_contain_text("THEIRS long note")
    field.press("Enter")  # It is no answer to the question.
    expect(field).to_have_value("mine")
    assert rows(proxy) == row("a", "THEIRS long note") | row("b", "bravo")
    choose(page, choice)
    expect(page.page.get_by_role("button", name=f"Edit “{text}”", exact=True)).to_be_visible()
    proxy.sync()
    assert rows(backend) == rows(proxy) == row("a", text) | row("b", "bravo")
    assert proxy.operator("GET", "/conflicts")["total"] == 0


def test_a_write_between_the_typing_and_the_save_is_noticed(opened):
    _, proxy, page = opened("alpha")

    def other_first(route):
        proxy.update("a", {"text": "theirs"})
        route.continue_()

    page.page.route(f"{proxy.url}/tables/todoitem/a", other_first, times=1)
    field = edit(page, "alpha")
    field.fill("mine")
    field.press("Enter")
    expect(note(page)).to_contain_text("theirs")
    expect(field).to_have_value("mine")
    assert rows(proxy) == row("a", "theirs")


def test_an_edit_is_saved_above_a_newer_version_with_the_same_text(opened):
    backend, proxy, page = opened("alpha", "bravo")

    def other_first(route):
        proxy.update("a", {"complete": True})
        route.continue_()

    page.page.route(f"{proxy.url}/tables/todoitem/a", other_first, times=1)
    field = edit(page, "alpha")
    field.fill("mine")
    field.press("Enter")
    expect(field).to_have_count(0)
    proxy.sync()
    assert rows(backend) == rows(proxy) == row("a", "mine", True) | row("b", "bravo")


def test_a_draft_that_is_older_than_its_row_is_not_saved_over_it(opened):
    backend, proxy, page = opened("alpha")
    edit(page, "alpha").fill("mine")
    page.page.goto("about:blank")
    backend.update("a", {"text": "theirs"})
    proxy.sync()
    page.open("todos")
    expect(page.page.get_by_label(FIELD)).to_have_value("mine")
    expect(note(page)).to_contain_text("theirs")
    page.page.get_by_label("Search todos").click()
    assert rows(proxy) == row("a", "theirs")
    choose(page, "Take theirs")
    expect(page.page.get_by_label(FIELD)).to_have_count(0)
    assert rows(proxy) == row("a", "theirs")


def test_a_row_that_leaves_the_list_keeps_its_field(opened):
    backend, proxy, page = opened("alpha", "bravo")
    page.page.get_by_role("button", name="Active").click()
    field = edit(page, "bravo")
    page.page.keyboard.type("bravo half")
    backend.update("b", {"complete": True})
    proxy.sync()
    expect(note(page)).to_contain_text("no longer in it")
    page.page.keyboard.type(" typed")
    expect(field).to_have_value("bravo half typed")
    assert rows(proxy) == row("a", "alpha") | row("b", "bravo", True)
    field.press("Enter")
    expect(page.todo("bravo")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Edit “alpha”")).to_be_focused()
    proxy.sync()
    assert rows(backend) == rows(proxy) == row("a", "alpha") | row("b", "bravo half typed", True)


def test_a_hundred_new_rows_do_not_take_the_field_away(opened, many):
    _, proxy, page = opened("alpha")
    field = edit(page, "alpha")
    page.page.keyboard.type("alpha half")
    many(proxy, [{"text": f"row {number}", "complete": False} for number in range(100)])
    expect(page.page.locator(".count")).to_contain_text("101")
    page.page.keyboard.type(" typed")
    expect(field).to_have_value("alpha half typed")
    assert proxy.get("a").json()["text"] == "alpha"
    field.press("Enter")
    expect(field).to_have_count(0)
    assert proxy.get("a").json()["text"] == "alpha half typed"


def test_a_draft_is_on_screen_where_the_list_does_not_have_its_row(opened):
    _, proxy, page = opened("alpha", "bravo")
    edit(page, "alpha").fill("half typed")
    page.page.goto("about:blank")
    proxy.update("a", {"complete": True})
    page.open("todos?show=active")
    expect(page.page.get_by_label(FIELD)).to_have_value("half typed")
    page.page.goto("about:blank")
    proxy.delete("a")
    page.open("todos")
    expect(page.page.get_by_label(FIELD)).to_have_value("half typed")
    expect(note(page)).to_contain_text("It was deleted meanwhile")
    choose(page, "Give up this text")
    expect(page.page.locator(".todos li")).to_have_count(1)
    assert rows(proxy) == row("b", "bravo")


@pytest.mark.parametrize("fails", [True, False])
def test_the_next_todo_is_typed_while_the_first_is_on_its_way(opened, fails):
    _, proxy, page = opened()
    held = []
    page.page.route(f"{proxy.url}/tables/todoitem", lambda route: held.append(route), times=1)
    field = page.page.get_by_label(NEW)
    keys = page.page.keyboard
    field.focus()
    keys.type("first")
    keys.press("Enter")
    expect(field).to_have_value("first")
    keys.press("Enter")  # Once more changes nothing.
    keys.type("second")
    expect(field).to_have_value("second")
    expect(page.page.locator(".adding")).to_contain_text("first")
    arrive(page, held)
    [route] = held
    route.abort() if fails else route.continue_()
    if fails:
        expect(page.page.locator(".adding")).to_contain_text("There was no answer")
        page.page.reload()
        expect(field).to_have_value("second")
        page.page.locator(".adding").get_by_role("button", name="Try again").click()
    expect(page.page.locator(".adding li")).to_have_count(0)
    page.page.reload()
    expect(field).to_have_value("second")
    field.press("Enter")
    expect(field).to_have_value("")
    assert sorted(one["text"] for one in rows(proxy).values()) == ["first", "second"]
    assert page.page.evaluate("sessionStorage.length") == 0


def test_a_new_todo_that_could_not_be_added_stays_in_its_field(opened):
    _, proxy, page = opened()
    proxy.program.kill()
    field = page.page.get_by_label(NEW)
    field.fill("a fresh idea")
    field.press("Enter")
    expect(page.page.locator("#toast")).to_be_visible()
    expect(field).to_have_value("a fresh idea")
    proxy.start()
    field.press("Enter")
    expect(page.todo("a fresh idea")).to_have_count(1)
    assert [one["text"] for one in proxy.all()] == ["a fresh idea"]


def test_a_row_with_the_id_new_does_not_take_the_draft_of_the_new_todo(opened):
    backend, proxy, page = opened("alpha")
    backend.insert({"id": "new", "text": "as it was", "complete": False})
    proxy.sync()
    expect(page.todo("as it was")).to_have_count(1)
    page.page.get_by_label(NEW).fill("a fresh idea")
    page.page.reload()
    expect(page.page.get_by_label(NEW)).to_have_value("a fresh idea")
    expect(page.todo("as it was")).to_have_count(1)
    page.page.get_by_label("Search todos").click()
    expect(page.page.get_by_label(FIELD)).to_have_count(0)
    assert rows(proxy) == row("a", "alpha") | row("new", "as it was")


def test_the_tab_asks_before_it_closes_while_something_is_not_saved(opened):
    _, _, page = opened("alpha")
    dialogs = []
    page.page.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.accept()))
    page.page.reload()
    assert dialogs == []
    field = edit(page, "alpha")
    field.press_sequentially("half typed")
    page.page.reload()
    assert dialogs == ["beforeunload"]
    expect(field).to_have_value("half typed")
    field.press("Enter")
    expect(field).to_have_count(0)
    page.page.reload()
    expect(page.todo("half typed")).to_have_count(1)
    assert dialogs == ["beforeunload"]


def test_enter_and_escape_belong_to_the_input_method(opened):
    _, proxy, page = opened("alpha")
    session = page.context.new_cdp_session(page.page)

    def compose(field, text, key, code):
        session.send("Input.imeSetComposition", {"text": text, "selectionStart": 1, "selectionEnd": 1})
        expect(field).to_have_value(text)
        # The browser sends no text with a key that an input method takes.
        session.send("Input.dispatchKeyEvent",
                     {"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code})
        session.send("Input.dispatchKeyEvent",
                     {"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code})
        expect(field).to_have_value(text)
        session.send("Input.insertText", {"text": text})

    field = edit(page, "alpha")
    compose(field, "に", "Enter", 13)
    field.select_text()
    compose(field, "ほ", "Escape", 27)
    # A save by the first Enter would have come before this one.
    field.press("Enter")
    expect(field).to_have_count(0)
    assert rows(proxy) == row("a", "ほ")
    written = [entry["after"]["text"] for entry in proxy.operator("GET", "/history")["items"]
               if entry["kind"] == "write" and entry["after"]]
    assert "に" not in written and written.count("ほ") == 1, written
    new = page.page.get_by_label(NEW)
    new.focus()
    compose(new, "に", "Enter", 13)
    assert rows(proxy) == row("a", "ほ")


def test_a_tick_that_was_not_stored_does_not_stay(opened):
    _, proxy, page = opened("alpha")
    proxy.program.kill()
    box = page.page.get_by_label("Complete “alpha”")
    box.click()
    expect(page.page.locator("#toast")).to_be_visible()
    expect(box).not_to_be_checked()
    proxy.start()
    assert rows(proxy) == row("a", "alpha")


def test_the_focus_goes_to_the_next_row_when_its_row_leaves(opened):
    _, proxy, page = opened("alpha", "bravo", "charlie")
    keys = page.page.keyboard
    page.page.get_by_label("Sort by").select_option("text")
    expect(page.page.locator(".todos .text")).to_have_text(["alpha", "bravo", "charlie"])
    page.page.get_by_role("button", name="Edit “bravo”").focus()
    keys.press("#")
    expect(page.page.get_by_role("button", name="Edit “charlie”")).to_be_focused()
    page.page.get_by_role("button", name="Active").click()
    page.page.get_by_label("Complete “charlie”").focus()
    keys.press("Space")
    expect(page.todo("charlie")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Edit “alpha”")).to_be_focused()
    keys.press("#")
    expect(page.page.locator("main h1")).to_be_focused()
    keys.press("u")
    expect(page.todo("alpha")).to_have_count(1)
    assert rows(proxy) == row("a", "alpha") | row("c", "charlie", True)


def test_a_blank_title_is_named(opened):
    _, proxy, page = opened("", "   ")
    expect(page.page.get_by_role("button", name="Edit “(no text)”")).to_have_count(2)
    proxy.update("a", {"complete": True})
    page.open("history")
    expect(page.page.locator(".history li").first.locator("strong")).to_have_text("a")


def test_the_undo_of_a_tick_brings_back_that_there_was_no_value(opened):
    _, proxy, page = opened("alpha", complete=None)
    before = rows(proxy)
    assert before["a"]["complete"] is None
    page.page.get_by_label("Complete “alpha”").check()
    page.toast("Completed")
    page.undo()
    expect(page.page.get_by_label("Complete “alpha”")).not_to_be_checked()
    wait_until(lambda: rows(proxy) == before)
    assert not any(table["pending"] for table in proxy.status()["tables"])


def hold(page, pattern):
    """Requests that wait for the test."""
    held = []
    page.page.route(pattern, lambda route: held.append(route))
    return held


def arrive(page, held, count=1):
    """Waits until so many requests are held. They come only while the page is asked for something."""
    wait_until(lambda: page.page.evaluate("1") and len(held) >= count, what="a request")


def visit(page, name):
    page.page.get_by_role("navigation").get_by_role("link", name=name).click()
    expect(page.page.locator(".todos")).to_have_count(1 if name == "Todos" else 0)


def type_new(page, *texts):
    """Types each over what the field has; Enter sends all but the last."""
    page.page.get_by_label(NEW).focus()
    for text in texts[:-1]:
        page.page.keyboard.type(text)
        page.page.keyboard.press("Enter")
    page.page.keyboard.type(texts[-1])
    expect(page.page.get_by_label(NEW)).to_have_value(texts[-1])


def test_a_row_that_new_ones_move_to_the_next_block_keeps_its_field(opened, many):
    _, proxy, page = opened("alpha")
    many(proxy, [{"text": f"row {number}", "complete": False} for number in range(44)])
    expect(page.page.locator(".count")).to_contain_text("45")
    page.page.get_by_label("Sort by").select_option("text")
    page.page.evaluate("document.querySelector('.todos').scrollIntoView({ block: 'end' })")
    title = page.page.locator(".todos li").nth(38).locator(".text").inner_text()
    id = next(one["id"] for one in proxy.all() if one["text"] == title)
    edit(page, title)
    page.page.keyboard.type("row 9 half")
    for number in range(3):
        proxy.insert({"text": f"before {number}", "complete": False})
    expect(page.page.locator(".count")).to_contain_text("48")
    expect(page.page.locator(".todos .text").filter(has_text="before")).to_have_count(3)
    page.page.keyboard.type(" typed")
    field = page.page.get_by_label(FIELD)
    expect(field).to_have_value("row 9 half typed")
    assert proxy.get(id).json()["text"] == title
    field.press("Enter")
    expect(field).to_have_count(0)
    assert proxy.get(id).json()["text"] == "row 9 half typed"


def test_a_new_todo_on_its_way_outlives_its_view(opened):
    _, proxy, page = opened()
    held = hold(page, f"{proxy.url}/tables/todoitem")
    type_new(page, "first", "second")
    visit(page, "History")
    visit(page, "Todos")
    expect(page.page.locator(".adding li")).to_contain_text("Saving…")
    field = page.page.get_by_label(NEW)
    field.fill("second and third")
    arrive(page, held)
    held[0].continue_()
    expect(page.page.locator(".adding li")).to_have_count(0)
    page.page.reload()
    expect(field).to_have_value("second and third")
    expect(page.page.locator(".adding li")).to_have_count(0)
    assert [one["text"] for one in rows(proxy).values()] == ["first"]


def test_a_text_typed_after_a_return_is_kept_when_the_earlier_one_is_stored(opened):
    _, proxy, page = opened()
    held = hold(page, f"{proxy.url}/tables/todoitem")
    field = page.page.get_by_label(NEW)
    field.fill("first")
    field.press("Enter")
    arrive(page, held)
    visit(page, "History")
    visit(page, "Todos")
    field.fill("a second long thought")
    held[0].continue_()
    expect(page.todo("first")).to_have_count(1)
    expect(page.page.locator(".adding li")).to_have_count(0)
    page.page.reload()
    expect(field).to_have_value("a second long thought")
    assert [one["text"] for one in rows(proxy).values()] == ["first"]


def test_two_new_todos_with_one_text_are_two(opened):
    _, proxy, page = opened()
    held = hold(page, f"{proxy.url}/tables/todoitem")
    type_new(page, "milk", "x")
    arrive(page, held)
    held[0].abort()
    lines = page.page.locator(".adding li")
    expect(lines).to_contain_text("There was no answer")
    page.page.get_by_label(NEW).fill("milk")
    page.page.get_by_label(NEW).press("Enter")
    page.page.get_by_label(NEW).select_text()
    page.page.keyboard.type("y")
    arrive(page, held, 2)
    expect(lines).to_have_count(2)
    held[1].continue_()
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("There was no answer")
    lines.get_by_role("button", name="Try again").click()
    expect(page.page.get_by_label(NEW)).to_be_focused()
    arrive(page, held, 3)
    held[2].continue_()
    expect(lines).to_have_count(0)
    assert [one["text"] for one in rows(proxy).values()] == ["milk", "milk"]


def test_a_refused_line_says_the_same_after_a_reload(opened):
    _, proxy, page = opened()
    held = hold(page, f"{proxy.url}/tables/todoitem")
    type_new(page, "first", "second")
    arrive(page, held)
    held[0].fulfill(status=500, json={"error": "No."})
    lines = page.page.locator(".adding li")
    expect(lines).to_contain_text("Not added")
    page.page.reload()
    expect(lines).to_contain_text("Not added")
    lines.get_by_role("button", name="Give up this text: “⁨first⁩”", exact=True).click()
    expect(lines).to_have_count(0)
    assert rows(proxy) == {}


@pytest.fixture
def numbered(start, dashboard):
    """A proxy with a todo of the backend and one that gets an integer id when it is sent, and the page."""
    backend = start.backend("--flavour", "express", "--table", "numbers:integer")
    proxy = start.proxy(
        backend.url, "--table", "numbers", "--policy", "numbers=integer-ids", "--sync", "manual")
    backend.insert({"text": "base", "complete": False}, "numbers")
    proxy.sync()
    proxy.insert({"text": "alpha", "complete": False}, "numbers")
    page = dashboard(proxy)
    page.page.evaluate("""localStorage.setItem("understudy-todos-source",
      '{"table":"numbers","text":"text","done":"complete"}')""")
    page.page.reload()
    page.page.get_by_role("button", name="Edit “alpha”", exact=True).click()
    page.page.keyboard.type("alpha half")
    return backend, proxy, page


def texts_of_numbers(server):
    return sorted(one["text"] for one in server.all("numbers"))


LOOKS_FOR_A_ROW = re.compile(r"/tables/numbers/items\?filter=id\b")


def test_an_edit_goes_on_when_the_row_gets_its_integer_id(numbered):
    backend, proxy, page = numbered
    field = page.page.locator(".editing textarea")
    proxy.sync()
    assert texts_of_numbers(backend) == ["alpha", "base"]
    expect(page.page.locator(".todos li")).to_have_count(2)
    expect(page.todo("on this device")).to_have_count(0)
    page.page.keyboard.type(" typed")
    expect(field).to_have_value("alpha half typed")
    expect(note(page)).to_be_hidden()
    field.press("Enter")
    expect(field).to_have_count(0)
    proxy.sync()
    assert texts_of_numbers(backend) == texts_of_numbers(proxy) == ["alpha half typed", "base"]


def test_a_late_answer_to_where_a_row_is_says_nothing_of_a_row_that_the_list_has(numbered):
    backend, proxy, page = numbered
    held = hold(page, LOOKS_FOR_A_ROW)
    proxy.sync()
    arrive(page, held)
    proxy.insert({"text": "charlie", "complete": False}, "numbers")
    arrive(page, held, 2)  # Each reading of the list without the row looks for it.
    held[0].continue_()
    arrive(page, held, 3)
    held[2].continue_()  # The row is found under its new id.
    expect(page.todo("on this device")).to_have_count(1)
    proxy.insert({"text": "delta", "complete": False}, "numbers")
    expect(page.todo("delta")).to_have_count(1)  # The list is read with the row.
    expect(note(page)).to_be_hidden()
    held[1].continue_()
    arrive(page, held, 4)
    with page.page.expect_response(LOOKS_FOR_A_ROW) as late:
        held[3].continue_()
    late.value.finished()
    page.page.evaluate("new Promise((done) => setTimeout(done))")
    expect(note(page)).to_be_hidden()
    page.page.keyboard.type(" typed")
    page.page.keyboard.press("Enter")
    expect(page.page.get_by_role("button", name="Edit “alpha half typed”", exact=True)).to_be_focused()
    proxy.sync()
    everything = ["alpha half typed", "base", "charlie", "delta"]
    assert texts_of_numbers(backend) == texts_of_numbers(proxy) == everything


def test_what_is_typed_while_a_row_is_added_again_goes_on_in_it(opened):
    backend, proxy, page = opened("alpha", "bravo")
    field = edit(page, "bravo")
    page.page.keyboard.type("bravo half")
    backend.delete("b")
    proxy.sync()
    held = hold(page, f"{proxy.url}/tables/todoitem")
    choose(page, "Add as a new one")
    arrive(page, held)
    field.focus()
    field.press("End")
    page.page.keyboard.type(" typed")
    held[0].continue_()
    expect(note(page)).to_be_hidden()
    expect(page.page.locator(".todos li")).to_have_count(2)
    expect(field).to_have_value("bravo half typed")
    field.press("Enter")
    expect(field).to_have_count(0)
    proxy.sync()
    assert sorted(one["text"] for one in rows(proxy).values()) == ["alpha", "bravo half typed"]
    assert rows(backend) == rows(proxy)


def begin_to_save(page, proxy, text):
    """Saves a text of the todo alpha. Gives its field, and the request that waits for the test."""
    held = hold(page, f"{proxy.url}/tables/todoitem/a")
    field = edit(page, "alpha")
    field.fill(text)
    field.press("Enter")
    arrive(page, held)
    return field, held[0]


def test_what_is_typed_after_a_save_is_about_that_save(opened):
    _, proxy, page = opened("alpha")
    field, request = begin_to_save(page, proxy, "alpha saved")
    field.press_sequentially(" and more")
    page.page.evaluate("location.hash = '#/history'")
    expect(page.page.locator(".todos")).to_have_count(0)
    request.continue_()
    # The draft goes on from what was stored.
    page.page.wait_for_function("""() => Object.values(sessionStorage)
      .some((value) => JSON.parse(value).began?.text === "alpha saved")""")
    page.page.evaluate("location.hash = '#/todos'")
    expect(field).to_have_value("alpha saved and more")
    expect(note(page)).to_be_hidden()
    assert rows(proxy) == row("a", "alpha saved")


def test_a_text_given_up_during_its_save_is_not_said_to_stay(opened):
    _, proxy, page = opened("alpha")
    field, request = begin_to_save(page, proxy, "mine")
    field.press("Escape")
    request.fulfill(status=500, json={"error": "No."})
    expect(page.page.locator("#toast")).to_have_text("Not saved: No.")
    assert rows(proxy) == row("a", "alpha")


def test_a_text_for_another_table_is_shown_and_can_be_given_up(opened):
    _, proxy, page = opened("alpha", note="nothing")
    edit(page, "alpha").fill("half typed")
    page.page.evaluate("""localStorage.setItem("understudy-todos-source",
      '{"table":"todoitem","text":"note","done":null}')""")
    page.page.goto("about:blank")
    page.open("todos")
    left = page.page.locator(".left-text")
    expect(left).to_contain_text("column text of the table todoitem")
    expect(left.locator("pre")).to_have_text("half typed")
    page.open("status")
    expect(page.page.locator(".unsaved a")).to_have_text("half typed")
    page.page.locator(".unsaved a").click()
    left.get_by_role("button", name="Give up this text").click()
    expect(left).to_have_count(0)
    assert page.page.evaluate("sessionStorage.length") == 0
    assert rows(proxy) == {"a": {**row("a", "alpha")["a"], "note": "nothing"}}


def test_a_text_of_a_column_that_is_no_text_any_more_is_shown(opened):
    backend, proxy, page = opened("alpha")
    edit(page, "alpha").fill("half typed")
    page.page.goto("about:blank")
    backend.update("a", {"text": 7})
    proxy.sync()
    page.open("todos")
    expect(page.page.locator(".left-text pre")).to_have_text("half typed")


def test_a_text_belongs_to_one_identity(start, dashboard):
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url, "--sync", "manual")
    sign_in(proxy, "ana").insert({"text": "of ana", "complete": False})
    [name] = set(proxy.status()["identities"]) - {"anonymous"}
    page = dashboard(proxy)
    page.page.evaluate("""name => sessionStorage.setItem(
      `understudy-draft:${encodeURIComponent(name)}:operation:["1"]`,
      JSON.stringify({ id: "1", title: "of ana", text: "{}" }))""", name)
    page.page.reload()
    page.open("status")
    link = page.page.locator(".unsaved a")
    expect(link).to_have_attribute("href", f"?identity={name}#/status")
    link.click()
    expect(link).to_have_text("of ana")
    assert "identity=" in page.page.url
