"""Debian's Chromium on the real dashboard of a real proxy."""

import pathlib
import re
import shutil

import pytest
from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from programs import OUTPUT, insert_many, setting
from playwright.sync_api import expect, sync_playwright

# No bound of a behaviour: on a machine with other work everything takes longer.
expect.set_options(timeout=20_000)
SCREENSHOTS = OUTPUT / "screenshots"
# For work on the page: serve its files from this folder instead of those in the binary.
PUBLIC = setting("UNDERSTUDY_PUBLIC")


@pytest.fixture(scope="session")
def chromium_path():
    # The shell is the same engine without windows and tabs, and opens a page in half the time.
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not path:
        pytest.exit("chromium is missing: run 'scripts/setup test' first", returncode=2)
    return path


@pytest.fixture(scope="session")
def chromium(chromium_path):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Dashboard:
    """One signed-in page. Each error that the page reports fails the test."""

    def __init__(self, chromium, proxy, **context):
        self.proxy = proxy
        self.context = chromium.new_context(**{"reduced_motion": "reduce", **context})
        if PUBLIC:
            self.context.route(re.compile(r"/-/([\w./-]+\.(js|css|svg|html))?$"), self._from_disk)
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "request",
            lambda request: self.errors.append(f"request to {request.url}")
            if not request.url.startswith((proxy.url, "data:", "blob:"))
            else None,
        )
        link = proxy.operator("POST", "/links", expect=201, json={})["url"]
        self.page.goto(link)
        expect(self.page.locator(".pill")).not_to_be_empty()

    def _from_disk(self, route):
        file = route.request.url.split("?")[0].split("/-/", 1)[1] or "index.html"
        headers = route.fetch().headers if file == "index.html" else {}
        route.fulfill(path=pathlib.Path(PUBLIC) / file, headers={
            key: value for key, value in headers.items() if key == "content-security-policy"
        })

    def open(self, view):
        self.page.goto(f"{self.proxy.url}/-/#/{view}")
        return self.page

    def todo(self, text):
        return self.page.locator(".todos li").filter(has_text=text)

    def add(self, text):
        self.page.get_by_label("What needs doing?").fill(text)
        self.page.keyboard.press("Enter")
        expect(self.todo(text)).to_have_count(1)

    def edit(self, old, new):
        self.page.get_by_role("button", name=f"Edit “{old}”", exact=True).click()
        field = self.page.get_by_label("Todo text")
        field.fill(new)
        field.press("Enter")
        expect(self.page.get_by_role("button", name=f"Edit “{new}”", exact=True)).to_be_visible()

    def sync(self):
        line = self.page.locator("#connection")  # A message may offer a sync as well.
        line.get_by_role("button", name="Sync now").click()
        expect(self.page.locator("#toast")).to_be_visible()
        expect(line.get_by_role("button", name="Sync now")).to_be_visible()

    def confirm(self, button):
        """Answers the dialog on the page."""
        self.page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()

    def all_decided(self):
        """After the last decision there is no conflict, and the todos are shown."""
        expect(self.page).to_have_url(re.compile(r"#/todos$"))
        assert self.proxy.operator("GET", "/conflicts")["total"] == 0

    def toast(self, text):
        expect(self.page.locator("#toast")).to_contain_text(text)

    def undo(self):
        self.page.locator("#toast").get_by_role("button", name="Undo").click()

    def no_overflow(self, what):
        wider = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wider <= 0, f"{what} is {wider} px wider than the window"

    def accessible(self):
        # axe is half a megabyte of script, so a document gets it once.
        if not self.page.evaluate("'axe' in globalThis"):
            self.page.evaluate(Axe().axe_script)
        rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        found = AxeResults(self.page.evaluate(
            "options => axe.run(options)", {"runOnly": rules, "resultTypes": ["violations"]}))
        assert found.violations_count == 0, found.generate_report()

    def watch_shifts(self):
        """Counts how far the layout moves, from the next load of the page on."""
        self.page.add_init_script(
            """globalThis.shift = 0;
            new PerformanceObserver(list => list.getEntries().forEach(e => (shift += e.value)))
              .observe({ type: "layout-shift", buffered: true });""")

    def shift(self):
        """How far the layout has moved, after the browser has drawn what the page has now."""
        return self.page.evaluate("""async () => {
          for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
          return shift;
        }""")

    def screenshot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


@pytest.fixture(scope="session")
def many():
    return insert_many


@pytest.fixture(scope="module")
def proxy_of_the_file(start_shared):
    return start_shared.proxy("http://127.0.0.1:9", "--sync", "manual", folder="alone")


@pytest.fixture
def alone(proxy_of_the_file):
    """A proxy whose backend is out of reach. The tests of a file share it; each begins without rows."""
    proxy_of_the_file.empty()
    return proxy_of_the_file


@pytest.fixture(scope="module")
def programs_of_the_file(start_shared, request):
    """The tables of the proxy are `TABLES` of the file."""
    backend = start_shared.backend("--faults")
    tables = [word for table in getattr(request.module, "TABLES", ["todoitem"]) for word in ("--table", table)]
    return backend, start_shared.proxy(backend.url, *tables, "--sync", "manual")


@pytest.fixture
def pair(programs_of_the_file):
    """A backend and a proxy that syncs only when asked. The tests of a file share them; each begins without rows."""
    backend, proxy = programs_of_the_file
    backend.empty()
    proxy.empty()
    return backend, proxy


@pytest.fixture
def dashboard(chromium):
    opened = []

    def open_dashboard(proxy, **context):
        dashboard = Dashboard(chromium, proxy, **context)
        opened.append(dashboard)
        return dashboard

    yield open_dashboard
    errors = [error for one in opened for error in one.errors]
    for one in opened:
        one.context.close()
    assert errors == []
