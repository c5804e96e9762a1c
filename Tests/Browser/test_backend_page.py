"""A page of the backend in real Chromium, at the proxy's own address. It has an origin of its own, and
cannot use the dashboard's session, its API or a service worker."""

import json

import pytest
from hostile import HTTPBackend
from programs import free_port, wait_until

PAGE = """<!doctype html><title>login</title><body><form id=f><input name=a></form><script>
const seen = {};
async function attempt(name, work) {
  try { seen[name] = "got " + String(await work()); } catch (problem) { seen[name] = "blocked: " + problem; }
}
const json = { "Content-Type": "application/json", "ZUMO-API-VERSION": "2.0.0" };
(async () => {
  await attempt("storage", () => localStorage.getItem("understudy-session"));
  await attempt("session storage", () => sessionStorage.length);
  await attempt("database", () => new Promise((yes, no) => { const asked = indexedDB.open("x"); asked.onsuccess = yes; asked.onerror = () => no("error"); }));
  await attempt("cookie", () => document.cookie);
  await attempt("plant a cookie", () => { document.cookie = "understudy_PORT=evil"; return document.cookie; });
  await attempt("status", async () => (await fetch("/-/api/v1/status", { credentials: "include" })).text());
  await attempt("address", async () => (await fetch("/-/api/v1/access", { method: "POST", body: '{"name":"evil"}', headers: json, credentials: "include" })).text());
  await attempt("rows", async () => (await fetch("/tables/todoitem", { headers: json })).text());
  await attempt("insert", async () => (await fetch("/tables/todoitem", { method: "POST", body: '{"id":"planted"}', headers: json })).text());
  await attempt("insert blindly", async () => (await fetch("/tables/todoitem", { method: "POST", body: '{"id":"planted"}', mode: "no-cors" })).type);
  await attempt("worker", async () => (await navigator.serviceWorker.register("/api/sw.js", { scope: "/" })).scope);
  await attempt("cache", async () => (await caches.keys()).length);
  await attempt("dashboard", () => new Promise((yes, no) => {
    const frame = document.createElement("iframe");
    frame.src = "/-/";
    frame.onload = () => { try { yes(frame.contentDocument.body.innerText); } catch (problem) { no(problem); } };
    document.body.append(frame);
  }));
  await attempt("window", async () => {
    const opened = window.open("/-/");
    if (!opened) throw "no window";
    await new Promise((yes) => setTimeout(yes, 500));
    return opened.document.body.innerText;
  });
  seen.origin = self.origin;
  document.title = "done";
  document.body.append(Object.assign(document.createElement("pre"), { id: "seen", textContent: JSON.stringify(seen) }));
})();
</script>"""

WORKER = "self.addEventListener('fetch', (event) => event.respondWith(new Response('owned')));"
CSP = "default-src * 'unsafe-inline'"


@pytest.fixture(scope="module")
def backend():
    served = []

    def behaviour(handler, _):
        served.append(handler.path)
        fields = {"Content-Type": "text/html", "Content-Security-Policy": CSP, "Service-Worker-Allowed": "/"}
        if "login" in handler.path or handler.path.startswith("/api/page"):
            page = PAGE.replace("PORT", handler.headers["X-Port"] or "0")
            handler.answer(200, page.encode(), fields)
        elif "sw.js" in handler.path:
            handler.answer(200, WORKER.encode(), {**fields, "Content-Type": "text/javascript"})
        elif "evil.js" in handler.path:
            handler.answer(200, b"window.owned = true", {"Content-Type": "text/javascript"})
        else:
            handler.answer(200, b"[]")

    backend = HTTPBackend(behaviour)
    backend.served = served
    yield backend
    backend.shutdown()


@pytest.fixture(scope="module")
def proxy(start_shared, backend):
    proxy = start_shared.proxy(backend.url, "--sync", "manual")
    proxy.insert({"id": "mine", "text": "canary-todo"})
    return proxy


@pytest.mark.parametrize("path", ["/.auth/login/aad", "/login/aad", "/api/page"])
def test_a_page_of_the_backend_gets_nothing_of_the_dashboards(dashboard, proxy, backend, path):
    board = dashboard(proxy)
    board.errors_ignored = True
    page = board.context.new_page()
    page.goto(proxy.url + path)
    page.wait_for_selector("#seen", timeout=30_000, state="attached")
    seen = json.loads(page.locator("#seen").text_content())
    assert seen.pop("origin") == "null"
    blind = seen.pop("insert blindly")
    assert blind.startswith(("blocked", "got opaque"))
    for name, got in seen.items():
        assert got.startswith("blocked"), (name, got)
    assert not any("sw.js" in one for one in backend.served)
    assert [row["id"] for row in proxy.all()] == ["mine"]
    assert proxy.operator("GET", "/access")["items"] == []
    # The dashboard is unchanged: signed in, and without a service worker.
    view = board.open("todos")
    view.reload()
    wait_until(lambda: "canary-todo" in view.content(), what="the todo")
    assert view.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


def test_the_dashboard_runs_no_script_of_the_backends(dashboard, proxy, backend):
    board = dashboard(proxy)
    said = board.page.evaluate(
        """() => new Promise((yes) => {
          document.addEventListener("securitypolicyviolation", (event) => yes(event.violatedDirective));
          document.head.append(Object.assign(document.createElement("script"), { src: "/api/evil.js" }));
          setTimeout(() => yes("loaded"), 3000);
        })"""
    )
    assert said.startswith("script-src")
    assert not board.page.evaluate("window.owned === true")
    assert not any("evil.js" in one for one in backend.served)


def test_no_page_can_have_a_service_worker_here(dashboard, proxy, backend):
    board = dashboard(proxy)
    # Also from the dashboard's own origin, whose policy allows none.
    for policy in (False, True):
        page = board.context.new_page()
        if policy:
            page.route("**/-/", lambda route: route.fulfill(body="<title>x</title>", content_type="text/html"))
        page.goto(f"{proxy.url}/-/")
        said = page.evaluate(
            "navigator.serviceWorker.register('/api/sw.js', {scope: '/'}).then(() => 'got', (e) => 'blocked ' + e)")
        assert said.startswith("blocked"), said
    assert not any("sw.js" in one for one in backend.served)


def test_a_link_that_is_none_signs_nobody_out(dashboard, proxy):
    board = dashboard(proxy)
    for link in ("garbage", "%", "%E0%A4%A", ""):
        page = board.context.new_page()
        page.goto(f"{proxy.url}/-/#link={link}")
        wait_until(lambda: page.locator(".pill").count() and page.locator(".pill").inner_text(), what="the line at the top")
        page.goto(f"{proxy.url}/-/#/status")
        assert page.evaluate("localStorage.getItem('understudy-session')")
        page.close()
    # Also in a page that is already open; the page says why it refused the link.
    board.page.goto(f"{proxy.url}/-/#link=garbage")
    board.toast("This link was used or is too old")
    board.open("todos")
    wait_until(lambda: board.page.get_by_label("What needs doing?").count() == 1, what="the todos")


def test_a_link_that_is_good_replaces_the_session(dashboard, proxy):
    board = dashboard(proxy)
    before = board.page.evaluate("localStorage.getItem('understudy-session')")
    board.page.goto(proxy.operator("POST", "/links", expect=201, json={})["url"])
    # The open page loads again.
    board.page.wait_for_function("(before) => localStorage.getItem('understudy-session') !== before", arg=before)


@pytest.mark.parametrize("place", ["queue/%", "queue/%E0%A4%A", "queue/nothing"])
def test_an_address_of_nothing_says_not_found(dashboard, proxy, place):
    board = dashboard(proxy)
    page = board.open(place)
    wait_until(lambda: "not found" in page.locator("#main").inner_text().lower(), what="the words")


def test_with_a_port_of_its_own_the_dashboard_is_out_of_reach_of_pages_with_an_origin(
        chromium, start, backend):
    port = free_port()
    proxy = start.proxy(backend.url, "--sync", "manual", "--dashboard-listen", f"127.0.0.1:{port}")
    context = chromium.new_context()
    board = context.new_page()
    board.goto(proxy.operator("POST", "/links", expect=201, json={})["url"])
    wait_until(lambda: board.locator(".pill").count() and board.locator(".pill").inner_text(), what="the dashboard")
    assert board.url.startswith(f"http://127.0.0.1:{port}/-/")
    page = context.new_page()
    page.goto(proxy.url + "/.auth/login/aad")
    page.wait_for_selector("#seen", timeout=30_000, state="attached")
    seen = json.loads(page.locator("#seen").text_content())
    # An origin of its own, with empty storage and nothing of the dashboard.
    assert seen["origin"] == proxy.url
    assert seen["storage"] == "got null" and seen["session storage"].startswith("got")
    for name in ("status", "address"):
        assert "Sign in" in seen[name], seen[name]
    for name in ("dashboard", "window"):
        assert "todos" not in seen[name].lower(), seen[name]
    assert seen["worker"].startswith("blocked")
    assert proxy.operator("GET", "/access")["items"] == []
    board.reload()
    wait_until(lambda: board.get_by_label("What needs doing?").count() == 1, what="the todos, signed in")
    context.close()
