"""The status: the backend with its reason, the end of offline mode, settings, and first contact."""

import http.server
import threading

import pytest
from playwright.sync_api import expect
from programs import wait_until


def test_the_offline_switch_has_an_end(start, dashboard):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    page = dashboard(proxy)
    page.open("status")
    card = page.page.locator("section[aria-labelledby=mode-title]")
    card.get_by_label("For").select_option("3600")
    card.get_by_role("button", name="Work offline").click()
    expect(card).to_contain_text("Working offline until")
    assert proxy.status()["mode"]["until"]
    card.get_by_role("button", name="Go online").click()
    expect(card).to_contain_text("sent as soon as")
    assert proxy.status()["mode"]["mode"] == "online"


def test_settings_hold_at_once_and_a_wrong_one_says_why(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9")
    page = dashboard(proxy)
    page.open("status")
    page.page.get_by_label("at an interval").uncheck()
    page.toast("Saved")
    assert "interval" not in proxy.operator("GET", "/settings")["triggers"]
    field = page.page.get_by_label("Attempts before it counts as refused")
    field.fill("3")
    field.press("Tab")
    # The message of the first change may still be shown.
    wait_until(lambda: proxy.operator("GET", "/settings")["maxAttempts"] == 3, what="the setting")
    page.toast("Saved")
    field.fill("0")
    field.press("Tab")
    page.toast("must be a whole number")
    expect(field).to_have_value("3")


def test_refused_requests_identities_and_the_account_are_shown(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.insert({"text": "one"})
    assert proxy.request("GET", "/tables/todoitem", headers={"Host": "evil.example"}).status_code == 421
    page = dashboard(proxy)
    page.open("status")
    main = page.page.locator("main")
    expect(main).to_contain_text("1 × 421")
    expect(main).to_contain_text("evil.example")
    expect(main).to_contain_text("anonymous (shown here)")
    expect(main).to_contain_text("The numbers add up")


class Portal(http.server.BaseHTTPRequestHandler):
    """Answers every request with a page, as the sign-in of a hotel network does."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><title>Welcome</title>Sign in to the network</html>")

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


@pytest.fixture
def portal():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Portal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def first_contact(proxy, dashboard):
    proxy.insert({"text": "waits"})
    proxy.sync()
    page = dashboard(proxy)
    page.page.get_by_role("link", name="What to do").click()
    card = contact_card(page)
    expect(card).to_contain_text("/tables/todoitem?$top=1")
    return page, card


def contact_card(page):
    card = page.page.locator(".contact")
    expect(card).to_contain_text("First contact")
    expect(card).to_contain_text("Meanwhile every change is kept")
    page.accessible()
    return card


def test_first_contact_with_nobody_says_what_was_tried_and_what_to_do(start, dashboard):
    page, card = first_contact(start.proxy("http://127.0.0.1:9", "--sync", "manual"), dashboard)
    expect(card).to_contain_text("cannot be reached")
    expect(card).to_contain_text("Check the address and the port")
    page.screenshot("first-contact-1280-light")


def test_a_failing_table_is_named_with_the_request_that_failed(start, dashboard):
    backend = start.backend("--faults")
    backend.request("POST", "/tables/orders", json={"id": "a"})
    proxy = start.proxy(backend.url, "--table", "orders", "--table", "todoitem")
    assert proxy.sync()["state"] == "complete"
    backend.faults({"kind": "status", "status": 503, "methods": ["POST"], "tables": ["orders"], "retryAfter": 600})
    proxy.insert({"id": "o"}, "orders")
    proxy.sync()
    page = dashboard(proxy)
    expect(page.page.get_by_role("banner")).to_contain_text("Connected")
    page.page.get_by_role("link", name="The backend fails for orders").click()
    card = page.page.locator(".contact")
    expect(card).to_contain_text("The backend fails for orders")
    expect(card).to_contain_text("Changes wait. The backend is not available for table orders (503)")
    expect(card).to_contain_text(f"POST {backend.url}/tables/orders")
    expect(card).to_contain_text("It answered 503")
    expect(card).to_contain_text("The other tables work")
    page.accessible()


def test_first_contact_with_a_web_page_says_so(start, dashboard, portal):
    page, card = first_contact(start.proxy(portal, "--sync", "manual"), dashboard)
    expect(page.page.locator(".pill").first).to_contain_text("page")


def test_first_contact_over_broken_tls_says_so(start, dashboard, portal):
    proxy = start.proxy(portal.replace("http:", "https:"), "--sync", "manual")
    page, card = first_contact(proxy, dashboard)
    expect(card).to_contain_text("secure connection")


class Stranger(Portal):
    """A web server without /tables."""

    def do_GET(self):
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error":"no such page"}')


def test_first_contact_with_a_wrong_address_says_so_and_how_to_change_it(start, dashboard):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = start.proxy(f"http://127.0.0.1:{server.server_port}", "--sync", "manual")
    page, card = first_contact(proxy, dashboard)
    expect(card).to_contain_text("no table was found there yet")
    expect(card).to_contain_text("Tables seen so far: todoitem.")
    expect(card).to_contain_text("correct the address")
    page.page.get_by_text("Use another address").click()
    expect(page.page.locator("main")).to_contain_text("--rebind")
    page.accessible()
    server.shutdown()


def test_a_missing_sign_in_says_so_and_what_to_do(start, dashboard):
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    page = dashboard(proxy)
    # The page refuses what the backend would refuse, and keeps the typed text.
    field = page.page.get_by_label("What needs doing?")
    field.fill("waits")
    page.page.keyboard.press("Enter")
    page.toast("Unauthorized")
    expect(field).to_have_value("waits")
    page.open("status")
    card = contact_card(page)
    expect(card).to_contain_text("the backend wants a sign-in")
    expect(card).to_contain_text("Sign in with the client app")
    page.screenshot("first-contact-sign-in-1280-light")


def test_the_data_of_another_backend_is_kept_and_the_page_says_how_to_go_on(start, dashboard):
    backend, other = start.backend(), start.backend(folder="other")
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    proxy.insert({"text": "stays"})
    proxy.stop()
    proxy.backend_url = other.url
    proxy.start()
    page = dashboard(proxy)
    page.sync()
    page.open("status")
    expect(page.page.locator("section[aria-labelledby=backend-title]")).to_contain_text(
        "understudy serve --backend https://NEW-ADDRESS --rebind")
    assert other.all() == []


def test_a_backup_is_taken_and_tried_and_can_be_restored(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    for n in range(3):
        proxy.insert({"id": f"r{n}", "text": f"row {n}"})
    page = dashboard(proxy)
    page.open("status")
    card = page.page.locator("section[aria-labelledby=backups-title]")
    expect(card).to_contain_text("There is none yet")
    card.get_by_role("button", name="Take one now").click()
    page.toast("Taken and checked: 1 stores, 3 rows, 3 unsent changes")
    expect(card.get_by_role("listitem")).to_have_count(1)
    proxy.insert({"id": "later", "text": "not in it"})
    card.get_by_role("button", name="Try to restore").click()
    page.toast("It can be restored: 1 stores, 3 rows, 3 unsent changes. Nothing was changed.")
    assert len(proxy.all()) == 4
    page.accessible()
    folder = proxy.operator("GET", "/backups")["items"][0]["path"]
    # A restored row has a new stamp, so that clients read it again.
    rows = lambda: [{**row, "updatedAt": None} for row in proxy.all() if row["id"] != "later"]
    before = rows()
    proxy.stop()
    restored = proxy.command("restore", folder, "--yes")
    assert restored.returncode == 0, restored
    proxy.start()
    assert len(proxy.all()) == 3 and rows() == before
    assert sum(proxy.status()["queue"].values()) == 3
    # A damaged one says so.
    made = proxy.operator("POST", "/backups", expect=201, json={})
    store = f"{made['path']}/stores/anonymous/store.sqlite"
    with open(store, "r+b") as file:
        file.truncate(8192)
    said = proxy.operator("POST", f"/backups/{made['at']}/rehearse", expect=409)
    assert said["code"] == "backup-failed" and "store.sqlite" in said["detail"], said
    assert proxy.operator("POST", "/backups/2020-01-01T00:00:00.000Z/rehearse", expect=404)["detail"]
