"""The history: what happened while the person was away, what changed, undo, search, and the runs."""

from playwright.sync_api import expect


def test_what_happened_while_the_page_was_away_and_undo(start, dashboard):
    backend = start.backend()
    backend.insert({"id": "a", "text": "as it was"})
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    proxy.insert({"text": "seen before"})
    page = dashboard(proxy)
    page.open("history")
    expect(page.page.locator(".history li").first).to_be_visible()
    page.open("todos")
    proxy.update("a", {"text": "a mistake"})
    proxy.insert({"text": "another"})
    page.open("history")
    expect(page.page.locator(".away")).to_contain_text("While you were away")
    expect(page.page.locator(".away")).to_contain_text("2 written")
    entry = page.page.locator(".history li").filter(has_text="a mistake").first
    entry.get_by_text("What changed").click()
    expect(entry).to_contain_text("as it was → a mistake")
    page.accessible()
    entry.get_by_role("button", name="Undo").click()
    page.toast("Undone")
    assert proxy.get("a").json()["text"] == "as it was"


def test_the_history_is_searched(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    for text in ("Buy milk", "Buy eggs", "Post the letter"):
        proxy.insert({"text": text})
    page = dashboard(proxy)
    page.open("history")
    entries = page.page.locator(".history li")
    expect(entries).to_have_count(3)
    field = page.page.get_by_label("Search the history")
    field.fill("buy")
    expect(entries).to_have_count(2)
    expect(page.page.locator("main .count")).to_have_text("2 entries")
    assert page.page.url.endswith("#/history?q=buy")
    # What happens meanwhile appears where it matches.
    proxy.insert({"text": "Buy bread"})
    expect(entries.first).to_contain_text("Buy bread")
    proxy.insert({"text": "Sing"})
    expect(entries).to_have_count(3)
    field.fill("100%")
    expect(page.page.locator("main")).to_contain_text("Nothing matches")
    page.accessible()
    page.page.reload()
    expect(field).to_have_value("100%")
    field.fill("")
    expect(entries).to_have_count(5)


def test_the_runs_are_listed_with_what_each_did(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    page = dashboard(proxy)
    page.open("history/runs")
    expect(page.page.locator("main")).to_contain_text("Nothing was synced yet")
    proxy.insert({"id": "a", "text": "one"})
    backend.insert({"id": "b", "text": "two"})
    run = proxy.sync()
    runs = page.page.locator(".runs tbody tr")
    expect(runs).to_have_count(1)
    # After started, result and took: sent, on the server, conflicts, refused. The row comes before its numbers.
    for place, number in enumerate(["1", "1", "0", "0"], 2):
        expect(runs.locator("td").nth(place)).to_have_text(number)
    page.accessible()
    backend.stop()
    proxy.operator("POST", "/sync?wait=30", json={})
    expect(runs).to_have_count(2)
    expect(runs.first).to_contain_text("Cannot reach the backend")
    runs.last.get_by_role("link").click()
    card = page.page.locator("article")
    expect(card).to_contain_text("Synced")
    expect(card.locator("tbody tr")).to_contain_text(["todoitem"])
    assert page.page.url.endswith(run["id"])
    page.accessible()
    page.page.get_by_role("link", name="All runs").click()
    expect(runs).to_have_count(2)
    page.open("history/runs/none")
    expect(page.page.locator("main")).to_contain_text("there is no run “none”")
    page.page.get_by_role("link", name="Changes").click()
    expect(page.page.locator(".history li").first).to_be_visible()


def test_the_history_goes_back_page_by_page(start, dashboard, many):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    many(proxy, ({"text": f"t{n:03}"} for n in range(650)))
    page = dashboard(proxy)
    page.open("history")
    entries = page.page.locator(".history li")
    expect(entries).to_have_count(100)
    for count in (200, 300, 400, 500, 600, 650):
        page.page.get_by_role("button", name="Show more").click()
        expect(entries).to_have_count(count)
    expect(page.page.get_by_role("button", name="Show more")).to_be_hidden()
    proxy.insert({"text": "the latest"})
    expect(entries.first).to_contain_text("the latest")
    expect(entries).to_have_count(651)
