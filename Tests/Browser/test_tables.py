"""Any table: columns from the data, filter, edit, delete, pull, purge, policies, curl."""

import re
import subprocess

import pytest
from playwright.sync_api import expect


TABLES = ["book"]


@pytest.fixture
def books(pair):
    backend, proxy = pair
    for n in range(12):
        backend.request("POST", "/tables/book", json={
            "id": f"b{n:02}", "title": f"Book {n}", "pages": n * 100, "author": {"name": "A"}})
    proxy.sync()
    return backend, proxy


def rows(page):
    return page.page.locator(".grid tbody tr")


def test_rows_are_found_edited_and_deleted(books, dashboard):
    backend, proxy = books
    page = dashboard(proxy)
    page.open("tables/book")
    expect(rows(page)).to_have_count(12)
    expect(page.page.locator(".grid thead")).to_contain_text("pages")
    page.page.get_by_label("OData filter").fill("pages gt 900")
    page.page.get_by_role("button", name="Filter", exact=True).click()
    expect(rows(page)).to_have_count(2)
    assert "filter=" in page.page.url
    page.page.get_by_label("OData filter").fill("pages gt")
    page.page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.page.locator("#filter-error")).not_to_be_empty()
    page.page.get_by_label("OData filter").fill("pages gt 900")
    page.page.get_by_role("button", name="Filter", exact=True).click()

    page.page.get_by_role("button", name="b11").click()
    page.accessible()
    card = page.page.locator("article")
    card.get_by_label("pages").fill("1234")
    card.get_by_label("author").fill('{"name": "B"}')
    page.page.get_by_role("button", name="Save").click()
    page.toast("Saved")
    expect(rows(page).filter(has_text="b11")).to_contain_text("on this device")
    row = proxy.get("b11", "book").json()
    assert (row["pages"], row["author"], row["title"]) == (1234, {"name": "B"}, "Book 11")

    page.page.get_by_role("button", name="b10").click()
    page.page.get_by_role("button", name="Delete").click()
    page.confirm("Delete")
    expect(rows(page)).to_have_count(1)
    page.undo()
    expect(rows(page)).to_have_count(2)

    # A row that an address names is shown once, and not again after its card was closed.
    page.open("tables/book?id=b01")
    expect(card).to_contain_text("b01")
    card.get_by_role("button", name="Close").click()
    expect(card).to_have_count(0)
    proxy.insert({"id": "b99", "title": "Later"}, "book")
    expect(rows(page)).to_have_count(13)
    expect(card).to_have_count(0)


def test_pull_purge_and_policies(books, dashboard):
    backend, proxy = books
    page = dashboard(proxy)
    page.open("tables/book")
    expect(rows(page)).to_have_count(12)
    backend.request("POST", "/tables/book", json={"id": "new", "title": "New"})
    page.page.get_by_role("button", name="Pull").click()
    page.toast("1 row received")
    expect(rows(page)).to_have_count(13)

    page.page.get_by_text("Policies").click()
    page.page.locator(".policies select").nth(2).select_option("server")
    page.toast("Saved")
    policy = lambda: [t["conflictPolicy"] for t in proxy.status()["tables"] if t["name"] == "book"]
    assert policy() == ["server"]

    page.page.locator(".policies select").nth(4).select_option("all")
    page.toast("Saved")
    notice = page.page.locator(".notice", has_text="A person has paused it")
    expect(notice).to_be_visible()
    expect(page.page.get_by_role("link", name="book is paused")).to_be_visible()
    notice.get_by_role("button", name="Resume").click()
    expect(notice).to_have_count(0)
    expect(page.page.get_by_role("link", name="book is paused")).to_have_count(0)

    proxy.update("new", {"title": "Pending"}, "book")
    remove = page.page.get_by_role("button", name="Remove from this device")
    remove.click()
    expect(page.page.get_by_role("dialog")).to_contain_text("book has 1 change that is not on the server")
    page.confirm("Cancel")
    proxy.sync()
    remove.click()
    page.confirm("Remove 13 rows")
    page.toast("13 rows removed from this device")
    expect(rows(page)).to_have_count(0)
    page.undo()  # The server has them all.
    expect(rows(page)).to_have_count(13)


def test_removing_rows_with_unsent_changes_is_undone_exactly(books, dashboard):
    backend, proxy = books
    for n in range(3):
        proxy.update(f"b{n:02}", {"title": f"Mine {n}", "pages": n}, "book")
    before = {row["id"]: (row["title"], row["pages"]) for row in proxy.all("book")}
    page = dashboard(proxy)
    page.open("tables/book")
    page.page.get_by_role("button", name="Remove from this device").click()
    expect(page.page.get_by_role("dialog").get_by_role("button", name="Delete 3")).to_be_focused()
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("dialog")).to_have_count(0)
    assert proxy.status()["queue"]["queued"] == 3
    page.page.get_by_role("button", name="Remove from this device").click()
    page.accessible()
    page.confirm("Delete 3 unsent changes")
    page.toast("3 unsent changes deleted")
    assert proxy.status()["queue"]["queued"] == 0
    page.undo()
    page.toast("the unsent changes are back")
    assert proxy.status()["queue"]["queued"] == 3
    proxy.sync()
    assert {row["id"]: (row["title"], row["pages"]) for row in proxy.all("book")} == before
    assert {row["id"]: (row["title"], row["pages"]) for row in backend.all("book")} == before


def test_the_lines_of_curl_do_what_the_page_shows(books, dashboard):
    backend, proxy = books
    page = dashboard(proxy)
    page.open("tables/book?filter=" + "title eq 'Book 3'")
    expect(rows(page)).to_have_count(1)
    page.page.get_by_text("The same with curl").click()
    line = page.page.locator(".curl pre").first.inner_text()
    assert proxy.url in line
    answer = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=20)
    assert re.search(r'"id":"b03"', answer.stdout) and "b04" not in answer.stdout
    page.accessible()


def test_a_long_table_is_paged(start, dashboard, many):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    many(proxy, ({"id": f"r{n:03}", "text": f"row {n:03}"} for n in range(250)))
    page = dashboard(proxy)
    page.open("tables/todoitem?orderby=id")
    expect(rows(page)).to_have_count(100)
    expect(page.page.locator("main")).to_contain_text("1–100 of 250")
    next_page = page.page.get_by_role("button", name="Next")
    next_page.click()
    expect(rows(page).first).to_contain_text("row 100")
    next_page.click()
    expect(page.page.locator("main")).to_contain_text("201–250 of 250")
    expect(next_page).to_be_disabled()
    page.page.get_by_role("button", name="Previous").click()
    expect(page.page.locator("main")).to_contain_text("101–200 of 250")


def test_deleted_rows_are_shown_when_asked_for(books, dashboard):
    backend, proxy = books
    backend.delete("b03", "book")
    proxy.sync()
    page = dashboard(proxy)
    page.open("tables/book")
    expect(rows(page)).to_have_count(11)
    page.page.get_by_text("Columns", exact=True).click()
    page.page.get_by_label("Include deleted").check()
    page.page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(12)
    expect(rows(page).filter(has_text="b03")).to_contain_text("deleted")
    assert "deleted=yes" in page.page.url
    page.page.get_by_role("button", name="b03").click()
    expect(page.page.get_by_role("button", name="Save")).to_have_count(0)
    page.accessible()


def test_a_table_in_part_shows_its_filter(start, dashboard):
    backend = start.backend()
    for n in range(4):
        backend.request("POST", "/tables/book", json={"id": f"b{n}", "pages": n * 100})
    proxy = start.proxy(
        backend.url, "--table", "book?$filter=pages gt 100", "--sync", "manual")
    proxy.sync()
    page = dashboard(proxy)
    page.open("tables/book")
    expect(rows(page)).to_have_count(2)
    expect(page.page.get_by_text("only rows with $filter=pages gt 100 are copied")).to_be_visible()
    page.accessible()
