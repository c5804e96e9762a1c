"""The todos of a backend without a table todoitem: the page offers the existing tables."""

import json
import re
import urllib.parse

import pytest
from hostile import HTTPBackend
from playwright.sync_api import expect

SIZES = [(320, 640), (720, 900), (1440, 900)]


def backend_of_movies():
    """A backend with two tables of other names. It takes every write, and answers all else with a page."""
    rows = {
        "movies": {
            f"m{n}": {"id": f"m{n}", "title": f"Movie {n}", "year": 1990 + n, "watched": n % 3 == 0,
                      "createdAt": f"2024-01-01T00:00:0{n}.000Z"}
            for n in range(7)
        },
        "notes": {"n1": {"id": "n1", "heading": "A note", "pages": 3, "createdAt": "2024-01-01T00:00:00.000Z"}},
    }
    clock = iter(range(1, 1000))

    def stamped(row):
        number = next(clock)
        return {"createdAt": "2024-01-02T00:00:00.000Z", "deleted": False, **row,
                "updatedAt": f"2024-01-01T00:{number // 60:02}:{number % 60:02}.000Z",
                "version": f"AAAAAAAA{number:04}"}

    for table in rows.values():
        for id, row in table.items():
            table[id] = stamped(row)

    def behave(handler, body):
        path, _, query = handler.path.partition("?")
        _, _, name, *id = path.split("/")
        table = rows.get(name)
        if table is None:
            return handler.answer(404, b"<!DOCTYPE html><pre>Cannot GET</pre>", {"Content-Type": "text/html"})
        if handler.command == "GET":
            since = re.search(r"updatedAt g[et] (?:datetimeoffset|datetime)?'?([^')]+)", urllib.parse.unquote_plus(query))
            found = sorted(table.values(), key=lambda row: row["updatedAt"])
            if since:
                found = [row for row in found if row["updatedAt"] >= since[1]]
            if "skip=" in query and "skip=0" not in query:
                found = []
            return handler.answer(200, json.dumps(found).encode())
        row = json.loads(body or b"{}")
        key = id[0] if id else row["id"]
        if handler.command == "DELETE":
            table.pop(key, None)
            return handler.answer(204, b"")
        table[key] = stamped({**table.get(key, {}), **row})
        handler.answer(200 if id else 201, json.dumps(table[key]).encode())

    backend = HTTPBackend(behave)
    backend.rows = rows
    return backend


def with_movies(start, movies):
    proxy = start.proxy(movies.url, "--sync", "manual", "--table", "movies", "--table", "notes")
    proxy.sync()
    return proxy


@pytest.fixture
def movies():
    backend = backend_of_movies()
    yield backend
    backend.shutdown()


@pytest.fixture
def proxy(start, movies):
    return with_movies(start, movies)


@pytest.fixture(scope="module")
def proxy_to_look_at(start_shared):
    backend = backend_of_movies()
    yield with_movies(start_shared, backend)
    backend.shutdown()


def select(page, name):
    return page.page.locator("form.choice").get_by_role("combobox", name=name, exact=True)


def choose(page, table=None, text=None, done=None):
    card = page.page.locator("form.choice")
    expect(card.get_by_role("button", name="Show")).to_be_enabled()
    if table:
        select(page, "Table").select_option(table)
        expect(card.get_by_role("button", name="Show")).to_be_enabled()
    if text:
        select(page, "Text").select_option(text)
    if done is not None:
        select(page, "Done").select_option(done)
    card.get_by_role("button", name="Show").click()


def test_the_tables_that_there_are_are_offered_with_sensible_columns(proxy_to_look_at, dashboard):
    page = dashboard(proxy_to_look_at)
    card = page.page.locator("form.choice")
    expect(card.get_by_role("heading")).to_have_text("Which table has the todos?")
    table, text, done = (select(page, name) for name in ("Table", "Text", "Done"))
    expect(table).to_have_value("movies")
    expect(text).to_have_value("title")
    expect(done).to_have_value("watched")
    assert table.locator("option").all_inner_texts() == ["movies", "notes"]
    assert done.locator("option").all_inner_texts() == ["watched", "no such column"]
    page.accessible()
    table.select_option("notes")
    expect(text).to_have_value("heading")
    expect(done).to_have_value("")
    # Nothing of it is written before a person says so.
    assert proxy_to_look_at.operator("GET", "/operations")["total"] == 0


def test_a_chosen_table_is_listed_added_to_edited_checked_deleted_and_filtered(proxy, movies, dashboard):
    page = dashboard(proxy)
    choose(page)
    expect(page.todo("Movie")).to_have_count(7)
    expect(page.page.locator(".bar .count")).to_have_text("4 open")
    page.page.get_by_label("Add to movies").fill("Movie new")
    page.page.keyboard.press("Enter")
    expect(page.todo("Movie new")).to_contain_text("on this device")
    page.page.get_by_role("button", name="Edit “Movie 1”").click()
    page.page.get_by_label("title", exact=True).fill("Movie one")
    page.page.keyboard.press("Enter")
    page.page.get_by_label("Complete “Movie 2”").check()
    expect(page.todo("Movie 2")).to_have_class("done")
    page.page.get_by_role("button", name="Delete “Movie 4”").click()
    expect(page.todo("Movie 4")).to_have_count(0)
    page.undo()
    expect(page.todo("Movie 4")).to_have_count(1)
    page.page.get_by_role("button", name="Delete “Movie 5”").click()
    expect(page.todo("Movie 5")).to_have_count(0)
    page.page.get_by_role("button", name="Completed").click()
    expect(page.page.locator(".todos li")).to_have_count(4)
    page.page.get_by_role("button", name="Active").click()
    expect(page.page.locator(".todos li")).to_have_count(3)
    page.page.get_by_role("button", name="All").click()
    page.page.get_by_label("Search movies").fill("ONE")
    expect(page.page.locator(".todos li")).to_have_count(1)
    page.page.get_by_label("Search movies").fill("")
    page.page.get_by_label("Sort by").select_option("text")
    expect(page.page.locator(".todos li").first).to_contain_text("Movie 0")
    page.accessible()
    # Whole rows: columns that are not shown are unchanged, and no column was added.
    proxy.sync()
    here = {row["title"]: row for row in proxy.all("movies")}
    assert set(here) == {"Movie 0", "Movie one", "Movie 2", "Movie 3", "Movie 4", "Movie 6", "Movie new"}
    there = {row["title"]: row for row in movies.rows["movies"].values()}
    assert set(there) == set(here)
    own = lambda row: {name: row.get(name) for name in ("id", "title", "year", "watched", "text", "complete")}
    assert own(there["Movie one"]) == own({"id": "m1", "title": "Movie one", "year": 1991, "watched": False})
    assert own(there["Movie 2"]) == own({"id": "m2", "title": "Movie 2", "year": 1992, "watched": True})
    assert own(there["Movie new"]) == own({"id": there["Movie new"]["id"], "title": "Movie new", "watched": False})


def test_a_conflict_in_a_chosen_table_is_shown_and_decided(proxy, movies, dashboard):
    page = dashboard(proxy)
    choose(page)
    page.page.get_by_role("button", name="Edit “Movie 1”").click()
    page.page.get_by_label("title", exact=True).fill("Mine")
    page.page.keyboard.press("Enter")
    expect(page.todo("Mine")).to_contain_text("on this device")
    behave = movies.behaviour
    theirs = {**movies.rows["movies"]["m1"], "title": "Theirs", "version": "BBBBBBBBBBBB",
              "updatedAt": "2024-01-03T00:00:00.000Z"}
    movies.rows["movies"]["m1"] = theirs
    there = {id: dict(row) for id, row in movies.rows["movies"].items()}
    movies.behaviour = lambda handler, body: (
        handler.answer(412, json.dumps(theirs).encode()) if handler.command == "PATCH" else behave(handler, body))
    page.sync()
    page.page.get_by_role("link", name="needs a decision", exact=True).click()
    page.page.get_by_role("button", name="Keep the server’s").click()
    page.all_decided()
    page.open("todos")
    expect(page.todo("Theirs")).to_contain_text("on the server")
    expect(page.todo("Movie")).to_have_count(6)
    expect(page.todo("Mine")).to_have_count(0)
    # The refused change is all that was ever sent, and every row here is the backend's.
    assert proxy.sync()["state"] == "complete"
    assert {(method, path.partition("?")[0]) for method, path, *_ in movies.writes} == {("PATCH", "/tables/movies/m1")}
    assert movies.rows["movies"] == there
    own = lambda rows: {row["id"]: (row["title"], row["year"], row["watched"]) for row in rows}
    assert own(proxy.all("movies")) == own(there.values())


def test_a_table_without_a_column_for_done_has_no_checkbox(proxy, movies, dashboard):
    page = dashboard(proxy)
    choose(page, "notes")
    expect(page.todo("A note")).to_have_count(1)
    expect(page.page.get_by_role("checkbox")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Active")).to_have_count(0)
    expect(page.page.locator(".bar .count")).to_have_text("1 row")
    page.page.get_by_label("Add to notes").fill("Another")
    page.page.keyboard.press("Enter")
    expect(page.todo("Another")).to_have_count(1)
    page.accessible()
    proxy.sync()
    added = next(row for row in movies.rows["notes"].values() if row["heading"] == "Another")
    assert set(added) - {"id", "heading"} == {"createdAt", "updatedAt", "version", "deleted"}


def test_the_choice_is_kept_in_the_browser_and_can_be_changed(proxy_to_look_at, dashboard):
    page = dashboard(proxy_to_look_at)
    choose(page, "notes")
    expect(page.todo("A note")).to_have_count(1)
    page.page.reload()
    expect(page.todo("A note")).to_have_count(1)
    change = page.page.get_by_role("button", name="Choose table and columns")
    change.click()
    expect(select(page, "Table")).to_be_focused()
    expect(select(page, "Table")).to_have_value("notes")
    page.page.get_by_role("button", name="Cancel").click()
    expect(change).to_be_focused()
    expect(page.todo("A note")).to_have_count(1)
    change.click()
    choose(page, "movies", done="")
    expect(page.todo("Movie 3")).to_have_count(1)
    expect(page.page.get_by_role("checkbox")).to_have_count(0)
    page.page.reload()
    expect(page.page.locator(".source")).to_contain_text("Table movies")
    expect(page.todo("Movie 3")).to_have_count(1)
    # The kept choice may name a table of another folder: then the page asks again.
    page.page.evaluate("""localStorage.setItem("understudy-todos-source", '{"table":"gone","text":"x"}')""")
    page.page.reload()
    expect(page.page.locator("form.choice")).to_be_visible()


def test_a_table_is_chosen_by_keyboard_alone(proxy, dashboard):
    page = dashboard(proxy)
    expect(page.page.locator("form.choice").get_by_role("button", name="Show")).to_be_enabled()
    keys = page.page.keyboard
    page.page.locator("#main").focus()
    keys.press("Tab")
    expect(select(page, "Table")).to_be_focused()
    keys.press("ArrowDown")
    expect(select(page, "Text")).to_have_value("heading")
    for _ in range(3):
        keys.press("Tab")
    keys.press("Enter")
    expect(page.todo("A note")).to_have_count(1)
    expect(page.page.get_by_label("Add to notes")).to_be_focused()
    keys.type("typed at once")
    keys.press("Enter")
    expect(page.todo("typed at once")).to_have_count(1)


def test_without_any_table_the_page_says_what_to_do_and_notices_the_first(start, movies, dashboard):
    proxy = start.proxy(movies.url, "--sync", "manual")
    page = dashboard(proxy)
    sentence = f"No table yet: point a client at {proxy.url}, or name one with --table."
    expect(page.page.locator(".empty")).to_contain_text(sentence)
    page.accessible()
    page.screenshot("todos-no-table-1280-light")
    page.open("tables")
    expect(page.page.locator("main")).to_contain_text(sentence)
    page.open("todos")
    expect(page.page.locator(".empty")).to_contain_text(sentence)
    # A client's first write makes a table, and the page offers it without a reload.
    proxy.insert({"id": "m9", "title": "Movie 9"}, "movies")
    expect(select(page, "Table")).to_have_value("movies")
    choose(page)
    expect(page.todo("Movie 9")).to_have_count(1)


def test_a_table_todoitem_with_other_columns_says_so(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.insert({"id": "a", "title": "Buy milk", "isDone": False})
    page = dashboard(proxy)
    expect(page.page.locator(".source")).to_contain_text("have no column text; they have title")
    page.page.get_by_role("button", name="Choose table and columns").click()
    choose(page, text="title", done="isDone")
    expect(page.todo("Buy milk")).to_have_count(1)
    page.page.get_by_label("Complete “Buy milk”").check()
    expect(page.todo("Buy milk")).to_have_class("done")
    row = proxy.get("a").json()
    assert (row["title"], row["isDone"], "complete" in row, "text" in row) == ("Buy milk", True, False, False)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width, height", SIZES)
def test_the_question_and_the_list_fit_every_window(proxy_to_look_at, dashboard, theme, width, height):
    page = dashboard(proxy_to_look_at, viewport={"width": width, "height": height}, color_scheme=theme)
    expect(page.page.locator("form.choice").get_by_role("button", name="Show")).to_be_enabled()
    page.no_overflow(f"the question at {width}")
    page.accessible()
    page.screenshot(f"todos-choice-{width}-{theme}")
    choose(page)
    expect(page.todo("Movie 3")).to_have_count(1)
    page.no_overflow(f"the list at {width}")
    page.accessible()
    page.screenshot(f"todos-movies-{width}-{theme}")
