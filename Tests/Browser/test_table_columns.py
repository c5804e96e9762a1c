"""Tables: many of them, many columns, sorting, a new row, and fields by the kind of their values."""

import json
import re

import pytest
from playwright.sync_api import expect


def rows(page):
    return page.page.locator(".grid tbody tr")


def heads(page):
    return page.page.locator(".grid thead th").all_inner_texts()


def send(proxy, method, path, text):
    """Sends JSON text as it is, so that no number changes on its way."""
    answer = proxy.request(method, path, data=text, headers={"Content-Type": "application/json"})
    assert answer.status_code < 300, answer.text
    return answer


def with_parcels(start):
    backend = start.backend()
    for n in range(5):
        send(backend, "POST", "/tables/parcel", json.dumps({
            "id": f"7f3c9a52-1111-2222-3333-44445555000{n}", "name": f"Parcel {4 - n}", "weight": n * 1.5,
            "isPaid": n % 2 == 0, "sentAt": f"2026-03-0{n + 1}T10:15:30.1234567Z", "day": f"2026-04-1{n}",
            "place": {"x": n}}))
    send(backend, "PATCH", "/tables/parcel/7f3c9a52-1111-2222-3333-444455550000",
         '{"weight":12345678901234567890.1230}')
    proxy = start.proxy(backend.url, "--table", "parcel", "--sync", "manual")
    proxy.sync()
    return backend, proxy


@pytest.fixture
def parcels(start):
    return with_parcels(start)


@pytest.fixture(scope="module")
def parcels_to_look_at(start_shared):
    return with_parcels(start_shared)


def test_the_heads_sort_the_rows(parcels_to_look_at, dashboard):
    backend, proxy = parcels_to_look_at
    page = dashboard(proxy)
    page.open("tables/parcel")
    expect(rows(page)).to_have_count(5)
    name = page.page.locator("thead th", has_text="name")
    expect(name).to_have_attribute("aria-sort", "none")
    name.get_by_role("button").click()
    expect(name).to_have_attribute("aria-sort", "ascending")
    expect(rows(page).first).to_contain_text("Parcel 0")
    expect(name.get_by_role("button")).to_be_focused()
    page.page.keyboard.press("Enter")
    expect(name).to_have_attribute("aria-sort", "descending")
    expect(rows(page).first).to_contain_text("Parcel 4")
    assert "orderby=name+desc" in page.page.url
    page.page.keyboard.press("Enter")
    expect(name).to_have_attribute("aria-sort", "none")
    assert "orderby" not in page.page.url


def test_a_row_of_500_columns_says_how_many_are_hidden(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"id": "wide", **{f"column{n:03}": n for n in range(500)}}, "wide")
    page = dashboard(proxy)
    page.open("tables/wide")
    expect(rows(page)).to_have_count(1)
    assert heads(page) == ["id", *[f"column{n:03}" for n in range(7)], "updatedAt", "Where"]
    menu = page.page.get_by_text("Columns (493 hidden)")
    menu.click()
    sheet = page.page.get_by_role("group", name="Columns shown")
    expect(sheet).to_contain_text("7 of 500 columns are shown; 493 are hidden.")
    page.accessible()
    page.page.get_by_label("Find a column").fill("499")
    sheet.get_by_label("column499").check()
    expect(sheet).to_contain_text("8 of 500 columns are shown; 492 are hidden.")
    expect(sheet.get_by_label("column499")).to_be_focused()
    page.page.get_by_label("Find a column").fill("column000")
    sheet.get_by_label("column000").uncheck()
    page.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expected = ["id", *[f"column{n:03}" for n in range(1, 7)], "column499", "updatedAt", "Where"]
    assert heads(page) == expected
    page.page.reload()
    expect(rows(page)).to_have_count(1)
    assert heads(page) == expected
    # The editor folds the hidden ones.
    page.page.get_by_role("button", name="wide", exact=True).click()
    expect(page.page.get_by_text("493 more columns")).to_be_visible()
    page.no_overflow("the wide table")


def test_fields_by_kind_change_only_what_was_touched(parcels, dashboard):
    backend, proxy = parcels
    id = "7f3c9a52-1111-2222-3333-444455550000"
    page = dashboard(proxy)
    page.open("tables/parcel")
    page.page.get_by_role("button", name=id).click()
    card = page.page.locator("article")
    page.accessible()
    expect(card.get_by_label("weight")).to_have_value("12345678901234567890.1230")
    expect(card.get_by_label("sentAt")).to_have_attribute("type", "datetime-local")
    expect(card.get_by_label("day")).to_have_attribute("type", "date")
    expect(card).to_contain_text("stored as 2026-03-01T10:15:30.123")
    before = proxy.request("GET", f"/tables/parcel/{id}").text
    card.get_by_label("isPaid").select_option("false")
    card.get_by_label("weight").fill("98765432109876543210.5000")
    card.get_by_label("day").fill("2027-01-02")
    page.page.get_by_role("button", name="Save").click()
    page.toast("Saved")
    text = proxy.request("GET", f"/tables/parcel/{id}").text
    assert '"weight":98765432109876543210.5000' in text
    after, was = json.loads(text), json.loads(before)
    assert (after["isPaid"], after["day"]) == (False, "2027-01-02")
    assert {name: after[name] for name in ("sentAt", "name", "place")} \
        == {name: was[name] for name in ("sentAt", "name", "place")}
    operation = proxy.operator("GET", "/operations")["items"][0]
    assert sorted(operation["changedColumns"]) == ["day", "isPaid", "weight"]

    # What is no number is not taken, and nothing is sent.
    page.page.get_by_role("button", name=id).click()
    card.get_by_label("weight").fill("12,5")
    page.page.get_by_role("button", name="Save").click()
    page.toast("weight must be a number")
    card.get_by_label("weight").fill("")
    card.get_by_label("isPaid").select_option("")
    page.page.get_by_role("button", name="Save").click()
    page.toast("Saved")
    row = proxy.get(id, "parcel").json()
    assert (row["weight"], row["isPaid"]) == (None, None)


def test_a_new_row(parcels, dashboard):
    backend, proxy = parcels
    page = dashboard(proxy)
    page.open("tables/parcel")
    expect(rows(page)).to_have_count(5)
    page.page.get_by_role("button", name="New row").click()
    card = page.page.locator("article")
    expect(card.get_by_role("heading")).to_be_focused()
    page.accessible()
    card.get_by_label("name").fill("New one")
    card.get_by_label("weight").fill("0.10")
    card.get_by_label("isPaid").select_option("true")
    card.get_by_label("sentAt").fill("2026-05-06T07:08")
    card.get_by_label("Other columns").fill('{"extra": [1, 2.50]}')
    card.get_by_role("button", name="Add row").click()
    page.toast("added")
    expect(rows(page)).to_have_count(6)
    row = next(row for row in proxy.all("parcel") if row["name"] == "New one")
    assert (row["isPaid"], row["extra"], row.get("day")) == (True, [1, 2.5], None)
    assert re.match(r"2026-05-0\dT\d\d:08:00.000Z", row["sentAt"])
    assert '"weight":0.10' in proxy.request("GET", f"/tables/parcel/{row['id']}").text
    proxy.sync()
    assert backend.get(row["id"], "parcel").json()["name"] == "New one"

    page.page.get_by_role("button", name="New row").click()
    card.get_by_label("Other columns").fill("[1]")
    card.get_by_role("button", name="Add row").click()
    page.toast("must be a JSON object")
    page.page.get_by_role("button", name="Close").click()
    expect(card).to_have_count(0)


def test_many_tables_are_listed_at_the_side_and_found(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    for n in range(40):
        proxy.insert({"id": "a", "text": f"in {n}"}, f"table{n:02}")
    page = dashboard(proxy, viewport={"width": 1440, "height": 900})
    page.open("tables/table07")
    expect(page.page.locator("h1")).to_have_text("table07")
    links = page.page.locator(".table-list a")
    expect(links).to_have_count(40)
    page.page.get_by_label("Find a table").fill("3")
    expect(links).to_have_count(13)
    page.page.get_by_role("link", name="table33").click()
    expect(page.page.locator("h1")).to_have_text("table33")
    expect(rows(page)).to_contain_text(["in 33"])
    expect(page.page.get_by_role("link", name="table33")).to_have_attribute("aria-current", "true")
    # On a narrow page one field chooses the table.
    page.page.set_viewport_size({"width": 720, "height": 900})
    page.page.get_by_label("Table", exact=True).select_option("table05")
    expect(rows(page)).to_contain_text(["in 5"])


@pytest.mark.parametrize("width", [320, 720, 1440, 2560])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_rows_begin_near_the_top_and_ids_and_times_stay_on_one_line(parcels_to_look_at, dashboard, width, theme):
    backend, proxy = parcels_to_look_at
    page = dashboard(proxy, color_scheme=theme, viewport={"width": width, "height": 900})
    page.open("tables/parcel")
    expect(rows(page)).to_have_count(5)
    page.no_overflow("the table")
    page.accessible()
    page.screenshot(f"tables-parcel-{width}-{theme}")
    # From the frame of the page to the first row.
    main = page.page.locator("main").bounding_box()
    first = rows(page).first.bounding_box()
    above = first["y"] - main["y"]
    if width >= 720:
        assert above <= 120, f"{above} px above the first row"
    lines = page.page.locator(".grid tbody tr").first.locator(".one-line")
    assert lines.count() == 6, "id, weight, isPaid, sentAt, day, updatedAt"
    tall = lines.evaluate_all("""cells => cells.filter((cell) => {
      const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
      const range = document.createRange();
      range.selectNodeContents(text);
      // A text that is cut has a second box for its end, on the same line.
      return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
    }).map((cell) => cell.textContent)""")
    assert tall == []
    page.page.get_by_role("button", name="7f3c9a52-1111-2222-3333-444455550001").click()
    page.screenshot(f"tables-editor-{width}-{theme}")
    page.accessible()


def test_what_was_not_touched_keeps_the_ends_of_its_lines(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"id": "a", "lines": "one\r\ntwo", "note": "old"}, table="notes")
    page = dashboard(proxy)
    page.open("tables/notes?id=a")
    card = page.page.locator(".side article")
    card.get_by_label("note").fill("new")
    card.get_by_role("button", name="Save").click()
    page.toast("Saved")
    row = proxy.get("a", "notes").json()
    assert (row["lines"], row["note"]) == ("one\r\ntwo", "new")


def test_on_a_narrow_page_a_long_id_leaves_room_for_the_text(start, dashboard):
    backend = start.backend()
    backend.insert({"id": "3f2c8f1e-6a55-4c0e-9a37-0b7a2b1d9c11", "text": "Buy milk\nand bread", "complete": False})
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    proxy.sync()
    page = dashboard(proxy, viewport={"width": 320, "height": 640})
    page.open("tables/todoitem")
    cell = page.page.locator(".grid tbody td").first
    expect(cell).to_have_text("Buy milk ↵ and bread")
    region, box = page.page.locator(".scroll").bounding_box(), cell.bounding_box()
    assert box["x"] + box["width"] <= region["x"] + region["width"], (box, region)
    page.page.get_by_role("button", name="3f2c8f1e-6a55-4c0e-9a37-0b7a2b1d9c11").click()
    expect(page.page.locator("#row-title")).to_have_text("3f2c8f1e-6a55-4c0e-9a37-0b7a2b1d9c11")
    page.no_overflow("a row at 320")
    page.accessible()
