"""The history is looked back into: by time in a person's words, by kind, by who, by table, in the address."""

import datetime
import re
import sqlite3
import zoneinfo

import pytest
from playwright.sync_api import expect

PARIS = zoneinfo.ZoneInfo("Europe/Paris")


def days_ago(days, hour):
    """Milliseconds since 1970 of an hour of an earlier day in Paris."""
    day = datetime.datetime.now(PARIS).date() - datetime.timedelta(days)
    return int(datetime.datetime.combine(day, datetime.time(hour), PARIS).timestamp() * 1000)


@pytest.fixture
def past(start, dashboard):
    """A page in Paris, with entries of today, of the first and the last hour of yesterday, and of a week ago."""
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    ana = proxy.operator("POST", "/access", expect=201, json={"name": "desk-ana"})["url"].removeprefix(proxy.url)
    proxy.insert({"id": "week", "text": "a week ago"})
    proxy.request("POST", ana + "/tables/todoitem", json={"id": "first", "text": "first of yesterday"})
    proxy.insert({"id": "last", "text": "last of yesterday"}, "visits")
    proxy.insert({"id": "now", "text": "of today"})
    with sqlite3.connect(next(proxy.folder.glob("stores/*/store.sqlite"))) as store:
        for id, at in (("week", days_ago(7, 12)), ("first", days_ago(1, 0)), ("last", days_ago(1, 23))):
            store.execute("UPDATE history SET at = ? WHERE item_id = ?", (at, id))
    page = dashboard(proxy, timezone_id="Europe/Paris", locale="en-GB")
    page.open("history")
    expect(page.page.locator(".history li")).to_have_count(4)
    return page


def shows(page, *texts):
    entries = page.page.locator(".history li")
    expect(entries).to_have_count(len(texts))
    for place, text in enumerate(texts):
        expect(entries.nth(place)).to_contain_text(text)


def test_a_day_is_named_in_words_and_stays_in_the_address(past):
    page = past.page
    when = page.get_by_label("When")
    when.fill("Yesterday")
    when.press("Enter")
    shows(past, "last of yesterday", "first of yesterday")
    day = datetime.datetime.now(PARIS).date() - datetime.timedelta(1)
    said = f"2 entries, {day.day} {day:%b} {day.year}"
    expect(page.locator("main .count")).to_have_text(re.compile(said.replace("Sep", "Sept?")))
    # As in every search, Enter moves to the list, and Escape leaves the field.
    expect(page.locator(".history li").first).to_be_focused()
    when.focus()
    when.press("Escape")
    expect(page.locator("main#main")).to_be_focused()
    assert page.url.endswith("#/history?when=Yesterday")
    page.get_by_label("By").select_option("desk-ana")
    shows(past, "first of yesterday")
    page.reload()
    shows(past, "first of yesterday")
    expect(when).to_have_value("Yesterday")
    expect(page.get_by_label("By")).to_have_value("client:desk-ana")
    past.accessible()
    page.go_back()
    shows(past, "last of yesterday", "first of yesterday")
    expect(page.get_by_label("By")).to_have_value("")
    page.go_back()
    shows(past, "of today", "last of yesterday", "first of yesterday", "a week ago")
    # A day of the calendar.
    page.get_by_label("Day", exact=True).fill((datetime.datetime.now(PARIS).date() - datetime.timedelta(7)).isoformat())
    shows(past, "a week ago")
    assert re.search(r"when=\d{4}-\d\d-\d\d$", page.url)


def test_words_that_are_not_understood_say_which_are(past):
    page = past.page
    when = page.get_by_label("When")
    when.fill("yesteday")
    when.press("Enter")
    refusal = page.locator("#when-error")
    expect(refusal).to_contain_text("When is not understood: \"yesteday\". Understood are today, yesterday")
    expect(page.locator(".history li")).to_have_count(0)
    expect(when).to_be_focused()
    expect(page.get_by_text("Nothing matches")).to_be_hidden()
    past.accessible()
    when.fill("2d")
    when.press("Enter")
    expect(refusal).to_be_hidden()
    shows(past, "of today", "last of yesterday", "first of yesterday")


def test_kind_who_table_and_text_narrow_together_and_new_entries_come(past):
    page = past.page
    page.get_by_label("Table").select_option("visits")
    shows(past, "last of yesterday")
    page.get_by_role("combobox", name="What").select_option("conflict")
    expect(page.locator("main")).to_contain_text("Nothing matches")
    page.get_by_role("combobox", name="What").select_option("written")
    page.get_by_label("By").select_option("a client")
    shows(past, "last of yesterday")
    past.proxy.insert({"text": "one more"}, "visits")
    shows(past, "one more", "last of yesterday")
    page.get_by_label("Search the history").fill("more")
    shows(past, "one more")
    assert page.url.endswith("#/history?q=more&kind=write&by=client&table=visits")
    for width in (320, 720):
        page.set_viewport_size({"width": width, "height": 800})
        past.no_overflow(f"the history at {width}")
