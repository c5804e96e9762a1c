"""Pages of other origins in real Chromium try all kinds of requests and get nothing.

Three attackers: another port of this machine (same site, another origin), a name that resolves to
this machine (another site), and that name on the proxy's own port (DNS rebinding: same origin for
the browser).
"""

import http.server
import json
import threading

import pytest
from programs import wait_until

CANARY = "canary-todo-7f3a"

# Each attempt returns what the page could read, or why it could not.
PAGE = """<!doctype html><title>attacker</title><body><script>
const proxy = "PROXY", seen = {};
const body = JSON.stringify({ id: "planted", text: "planted" });
const zumo = { "ZUMO-API-VERSION": "2.0.0" };
async function attempt(name, work) {
  try { seen[name] = String(await work()); } catch (problem) { seen[name] = "blocked: " + problem; }
}
const text = async (path, options) => (await fetch(proxy + path, options)).text();
function event(target, good, bad) {
  return new Promise((resolve) => {
    for (const one of good) target.addEventListener(one, (e) => resolve("got " + one + " " + (e.data ?? "")));
    for (const one of bad) target.addEventListener(one, () => resolve("blocked: " + one));
    setTimeout(() => resolve("blocked: silence"), 3000);
  });
}
function element(tag, set, good = ["load"], bad = ["error"]) {
  const made = document.createElement(tag);
  const done = event(made, good, bad);
  Object.assign(made, set);
  document.body.append(made);
  return done;
}
function form(path, enctype) {
  const frame = document.createElement("iframe");
  frame.name = "f" + Math.random();
  document.body.append(frame);
  const made = document.createElement("form");
  Object.assign(made, { action: proxy + path, method: "POST", enctype, target: frame.name });
  const field = document.createElement("input");
  Object.assign(field, { name: '{"id":"planted","text":"', value: '"}' });
  made.append(field);
  document.body.append(made);
  made.submit();
  return event(frame, ["load"], ["error"]).then(() => {
    try { return frame.contentDocument.body.innerText; } catch (problem) { return "blocked: " + problem; }
  });
}
(async () => {
  await attempt("fetch a list", () => text("/tables/todoitem"));
  await attempt("fetch a list with cookies", () => text("/tables/todoitem", { credentials: "include" }));
  await attempt("fetch the status", () => text("/-/api/v1/status", { credentials: "include" }));
  await attempt("fetch the metrics", () => text("/-/metrics"));
  await attempt("fetch without looking", async () => (await fetch(proxy + "/tables/todoitem", { mode: "no-cors" })).type + " " + (await (await fetch(proxy + "/tables/todoitem", { mode: "no-cors" })).text()));
  await attempt("post without looking", async () => (await fetch(proxy + "/tables/todoitem", { method: "POST", mode: "no-cors", body })).type);
  await attempt("post JSON", () => text("/tables/todoitem", { method: "POST", body, headers: { "Content-Type": "application/json", ...zumo } }));
  await attempt("post as text", () => text("/tables/todoitem", { method: "POST", body, headers: { "Content-Type": "text/plain" } }));
  await attempt("delete", () => text("/tables/todoitem/mine", { method: "DELETE", headers: zumo }));
  await attempt("patch", () => text("/tables/todoitem/mine", { method: "PATCH", body, headers: { "Content-Type": "application/json" } }));
  await attempt("sync", () => text("/-/api/v1/sync", { method: "POST", body: "{}", headers: { "Content-Type": "application/json" }, credentials: "include" }));
  await attempt("custom API", () => text("/api/custom", { method: "POST", body }));
  await attempt("keepalive", async () => (await fetch(proxy + "/tables/todoitem", { method: "POST", mode: "no-cors", keepalive: true, body })).type);
  await attempt("beacon", () => navigator.sendBeacon(proxy + "/tables/todoitem", new Blob([body], { type: "text/plain" })) && "sent blindly");
  await attempt("form", () => form("/tables/todoitem", "application/x-www-form-urlencoded"));
  await attempt("form as text", () => form("/tables/todoitem", "text/plain"));
  await attempt("form with parts", () => form("/-/api/v1/sync", "multipart/form-data"));
  await attempt("image", () => element("img", { src: proxy + "/tables/todoitem" }));
  await attempt("image of the dashboard", () => element("img", { src: proxy + "/-/icon.svg" }));
  await attempt("script", () => element("script", { src: proxy + "/tables/todoitem" }));
  await attempt("script of the dashboard", () => element("script", { src: proxy + "/-/app.js" }));
  await attempt("style", () => element("link", { rel: "stylesheet", href: proxy + "/-/shared/style.css" }));
  await attempt("object", () => element("object", { data: proxy + "/tables/todoitem" }));
  await attempt("frame of the dashboard", async () => {
    const frame = document.createElement("iframe");
    frame.src = proxy + "/-/";
    document.body.append(frame);
    await event(frame, ["load"], ["error"]);
    try { return frame.contentDocument.body.innerText; } catch (problem) { return "blocked: " + problem; }
  });
  await attempt("WebSocket", () => event(new WebSocket(proxy.replace("http", "ws") + "/-/api/v1/events"), ["open", "message"], ["error", "close"]));
  await attempt("EventSource", () => event(new EventSource(proxy + "/-/api/v1/events", { withCredentials: true }), ["open", "message"], ["error"]));
  await attempt("worker", () => event(new Worker(URL.createObjectURL(new Blob([`fetch("${proxy}/tables/todoitem").then((a) => a.text()).then(postMessage, () => postMessage("blocked: fetch"))`]))), ["message"], ["error"]));
  window.result = seen;
})();
</script>"""


class Attacker(http.server.ThreadingHTTPServer):
    def __init__(self, proxy_url):
        page = PAGE.replace("PROXY", proxy_url).encode()

        class Pages(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Pages)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def misled(chromium, chromium_path):
    """Chromium that resolves evil.example to this machine."""
    browser = chromium.browser_type.launch(
        executable_path=chromium_path,
        args=["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    )
    yield browser
    browser.close()


@pytest.fixture
def target(start):
    """A proxy with a row that no other site may see, and a browser signed in to it."""
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.insert({"id": "mine", "text": CANARY})
    return backend, proxy


def requests_of(backend):
    return backend.request("GET", "/-/effects").json()["requests"]


def signed_in(context, proxy):
    """Signs the browser's context in, so that an attacker could misuse its cookie."""
    page = context.new_page()
    page.goto(proxy.operator("POST", "/links", expect=201, json={})["url"])
    page.wait_for_selector(".pill")
    page.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.example"])
def test_a_page_of_another_origin_gets_nothing(misled, start, host):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.insert({"id": "mine", "text": CANARY})
    before, upstream = proxy.status()["ledger"], requests_of(backend)
    attacker = Attacker(proxy.url)
    context = misled.new_context()
    signed_in(context, proxy)
    page = context.new_page()
    page.goto(f"http://{host}:{attacker.server_port}/")
    page.wait_for_function("window.result", timeout=60_000)
    seen = page.evaluate("window.result")
    context.close()
    attacker.shutdown()

    assert CANARY not in json.dumps(seen)
    allowed = {"fetch without looking", "post without looking", "keepalive", "beacon", "object"}
    for name, got in seen.items():
        if name in allowed:  # The browser reports nothing about these; the checks are below.
            assert got.startswith(("opaque", "sent blindly", "blocked")), (name, got)
        else:
            assert got.startswith(("blocked", "got message blocked")) or got == "", (name, got)
    assert proxy.status()["ledger"] == before
    assert [row["id"] for row in proxy.all()] == ["mine"]
    after = requests_of(backend)
    assert {k: v for k, v in after.items() if k != "GET"} == {k: v for k, v in upstream.items() if k != "GET"}
    reasons = {one["reason"]: one for one in proxy.operator("GET", "/rejections")["items"]}
    assert reasons["cross-origin"]["count"] >= 15
    assert "page of another origin" in reasons["cross-origin"]["sentence"]


def test_a_rebound_name_gets_nothing_though_the_browser_takes_it_for_the_same_origin(misled, target):
    _, proxy = target
    before = proxy.status()["ledger"]
    # The attacker's page came from the attacker's server, so it has none of the proxy's policies.
    context = misled.new_context(bypass_csp=True)
    page = context.new_page()
    evil = f"http://evil.example:{proxy.port}"
    for path in ("/tables/todoitem", "/-/", "/-/metrics", "/-/api/v1/status", "/"):
        answer = page.goto(evil + path)
        assert answer.status == 421, path
        assert CANARY not in page.content()
    # From that page everything is the same origin: the server has to block it, the browser does not.
    seen = page.evaluate(
        """async () => {
          const answers = {};
          for (const [method, path] of [["GET", "/tables/todoitem"], ["POST", "/tables/todoitem"],
              ["DELETE", "/tables/todoitem/mine"], ["POST", "/-/api/v1/sync"], ["GET", "/-/api/v1/events"]]) {
            const answer = await fetch(path, { method, credentials: "include",
              headers: { "Content-Type": "application/json", "ZUMO-API-VERSION": "2.0.0" },
              body: method === "POST" ? '{"id":"planted","text":"planted"}' : undefined });
            answers[method + path] = [answer.status, await answer.text()];
          }
          return answers;
        }"""
    )
    context.close()
    for name, (status, text) in seen.items():
        assert status == 421 and CANARY not in text, (name, status, text)
    assert proxy.status()["ledger"] == before
    assert [row["id"] for row in proxy.all()] == ["mine"]


def test_the_dashboard_tells_of_it_in_words(dashboard, target):
    _, proxy = target
    proxy.request("GET", "/tables/todoitem", headers={"Origin": "https://evil.example"})
    board = dashboard(proxy)
    page = board.open("status")
    card = page.locator("section.card").filter(has_text="Rejected requests")
    wait_until(lambda: "A page of another origin tried to reach Understudy" in card.inner_text())
    assert "https://evil.example" in card.inner_text()
