"""What a list shows is saved whole as a file, with the filter on screen, by the signed-in page alone."""

import csv
import io
import json

import requests
from playwright.sync_api import expect


def saved(page, label):
    """The file that a click on a button gives: its name and its text."""
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name=f"Download all as {label}").click()
    return download.value.suggested_filename, open(download.value.path(), encoding="utf-8", newline="").read()


def rows_of(text):
    assert text[0] == "\ufeff"
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_rows_queue_and_history_are_saved_as_the_filter_shows_them(start, dashboard, many):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    many(proxy, ({"text": f"t{n:03}", "n": -n} for n in range(600)))
    proxy.insert({"id": "odd", "text": "=HYPERLINK(\"http://evil.example\";\"Zoë\")", "n": -5})
    page = dashboard(proxy, accept_downloads=True)
    page.open("tables/todoitem?filter=n%20lt%20-4&orderby=n")
    expect(page.page.locator(".grid tbody tr").first).to_contain_text("t599")
    name, text = saved(page, "CSV")
    rows = rows_of(text)
    assert name == "todoitem.csv" and len(rows) == 596
    assert [row["n"] for row in rows] == [str(n) for n in sorted([-n for n in range(5, 600)] + [-5])]
    odd = next(row for row in rows if row["id"] == "odd")
    assert odd["text"] == "'=HYPERLINK(\"http://evil.example\";\"Zoë\")"
    assert odd["sync.state"] == "pending"
    page.page.get_by_label("Text or OData filter").fill("Zoë")
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".grid tbody tr")).to_have_count(1)
    name, text = saved(page, "JSON Lines")
    assert name == "todoitem.jsonl"
    assert [json.loads(line)["item"]["id"] for line in text.splitlines()] == ["odd"]
    page.open("queue?q=t01&sort=newest")
    expect(page.page.locator(".operations li")).to_have_count(10)
    page.accessible()
    name, text = saved(page, "CSV")
    assert name == "operations.csv"
    assert [row["title"] for row in rows_of(text)] == [f"t01{n}" for n in range(9, -1, -1)] or \
        {row["title"] for row in rows_of(text)} == {f"t01{n}" for n in range(10)}
    page.open("history?when=today&q=Zo%C3%AB")
    expect(page.page.locator(".history li")).to_have_count(1)
    page.accessible()
    name, text = saved(page, "CSV")
    assert name == "history.csv"
    [row] = rows_of(text)
    assert (row["itemId"], row["kind"], row["actor"]) == ("odd", "write", "client")
    assert json.loads(row["after"])["n"] == -5
    # The address alone gives nothing, not even with the cookie of the page.
    cookies = {one["name"]: one["value"] for one in page.context.cookies()}
    answer = requests.get(f"{proxy.url}/-/api/v1/history?format=csv", cookies=cookies, timeout=10)
    assert answer.status_code == 401


def test_conflicts_are_saved_and_a_refusal_is_said(start, dashboard):
    backend = start.backend()
    backend.insert({"id": "a", "text": "as it was"})
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    proxy.update("a", {"text": "mine"})
    backend.update("a", {"text": "theirs"})
    proxy.sync()
    page = dashboard(proxy, accept_downloads=True)
    page.open("conflicts")
    expect(page.page.locator(".conflict")).to_be_visible()
    page.accessible()
    name, text = saved(page, "CSV")
    assert name == "conflicts.csv"
    [row] = rows_of(text)
    assert [json.loads(row[side])["text"] for side in ("base", "mine", "server")] == ["as it was", "mine", "theirs"]
    page.page.evaluate("localStorage.setItem('understudy-session', 'of another time')")
    page.page.get_by_role("button", name="Download all as CSV").click()
    page.toast("Sign in")
