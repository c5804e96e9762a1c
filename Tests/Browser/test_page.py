"""The page as a whole: size, content policy, themes, no shifting layout, few announcements for screen readers."""

import re

import pytest
import requests
from playwright.sync_api import expect
from programs import dashboard_files

TRANSFERRED_BYTES = 160_000
FILES = dashboard_files()


def test_the_whole_page_is_small_and_its_policy_strict(alone, dashboard):
    answers = [requests.get(f"{alone.url}/-/{name}", timeout=10) for name in FILES]
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.headers["Content-Encoding"] for answer in answers} == {"gzip"}
    assert sum(int(answer.headers["Content-Length"]) for answer in answers) < TRANSFERRED_BYTES
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert "http" not in policy
    page = dashboard(alone)
    page.page.on("console", lambda message: page.errors.append(message.text)
                 if "Content Security Policy" in message.text else None)
    for view in ("todos", "conflicts", "queue", "tables", "history", "status"):
        page.open(view)
        expect(page.page.locator("main h1")).to_have_count(1)


def test_a_second_load_transfers_no_file_again(alone):
    for name, file in FILES.items():
        address = f"{alone.url}/-/{name}"
        first = requests.get(address, timeout=10)
        plain = requests.get(address, headers={"Accept-Encoding": "gzip;q=0"}, timeout=10)
        assert first.content == plain.content
        assert name == "index.html" or first.content == file.read_bytes()
        assert "Content-Encoding" not in plain.headers
        assert first.headers["ETag"] != plain.headers["ETag"]
        assert first.headers["Vary"] == "Accept-Encoding"
        again = requests.get(address, headers={"If-None-Match": first.headers["ETag"]}, timeout=10)
        assert (again.status_code, again.content) == (304, b"")
        assert "default-src 'none'" in again.headers["Content-Security-Policy"]
        other = requests.get(address, headers={"If-None-Match": '"other"'}, timeout=10)
        assert other.status_code == 200


def test_every_module_is_asked_for_at_once(alone):
    page = requests.get(alone.url + "/-/", timeout=10).text
    scripts = re.findall(r'<script[^>]* src="([^"]+)">', page)
    modules = {name for name in FILES if name.endswith(".js")} - set(scripts)
    asked = re.findall(r'<link rel="modulepreload" href="([^"]+)">', page)
    assert sorted(asked) == sorted(modules)


def background(page):
    return page.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_the_theme_follows_the_system_until_somebody_chooses(alone, dashboard):
    page = dashboard(alone, color_scheme="dark")
    dark = background(page)
    page.page.get_by_role("button", name="Theme: as the system").click()
    light = background(page)
    assert light != dark
    page.page.reload()
    assert background(page) == light
    expect(page.page.locator(".pill")).not_to_be_empty()
    page.page.keyboard.press("t")
    assert background(page) == dark
    expect(page.page.get_by_role("button", name="Theme: dark")).to_be_visible()


def test_nothing_moves_for_those_who_want_it_still(alone, dashboard):
    page = dashboard(alone)
    moving = "document.getAnimations().length"
    page.page.get_by_role("button", name="Sync now").click()
    assert page.page.evaluate(moving) == 0


def test_the_layout_does_not_shift_while_the_page_opens(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    for n in range(5):
        proxy.insert({"text": f"todo {n}"})
    page = dashboard(proxy)
    page.watch_shifts()
    shifts = {}
    for view, selector in VIEWS.items():
        page.open(view)
        page.page.reload()
        expect(page.page.locator(selector).first).to_be_visible()
        shifts[view] = page.shift()
    print("layout shift while opening:", {view: f"{shift:.3f}" for view, shift in shifts.items()})
    assert max(shifts.values()) <= 0.1


def test_screen_readers_hear_changes_of_meaning_only(start, dashboard):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    proxy.sync()  # It knows then that the backend is away: that would be heard.
    page = dashboard(proxy)
    assert page.page.locator("[aria-live]").count() == 1
    expect(page.page.locator(".detail")).to_contain_text("No unsent changes")
    page.page.evaluate("""() => {
      globalThis.heard = [];
      const region = document.getElementById("announcer");
      new MutationObserver(() => region.textContent && heard.push(region.textContent))
        .observe(region, { childList: true, characterData: true, subtree: true });
    }""")
    for n in range(3):
        proxy.insert({"text": f"from elsewhere {n}"})
    expect(page.todo("from elsewhere 2")).to_have_count(1)
    expect(page.page.locator(".detail")).to_contain_text("3 unsent changes")
    # What is heard after the rows is the choice of the theme, and nothing comes before it.
    page.page.keyboard.press("t")
    expect(page.page.locator("#announcer")).to_have_text("Light theme.")
    assert page.page.evaluate("heard") == ["Light theme."]


def test_screen_readers_hear_what_happens_without_them(start, dashboard):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.sync()
    page = dashboard(proxy)
    heard = page.page.locator("#announcer")
    proxy.insert({"text": "one"})
    expect(page.todo("one")).to_contain_text("on this device")
    expect(page.page.locator(".detail")).to_contain_text("1 unsent change")
    expect(heard).to_be_empty()
    proxy.sync()
    expect(heard).to_have_text("Everything is on the server")
    backend.faults({"kind": "status", "status": 400, "methods": ["POST"]})
    proxy.insert({"text": "two"})
    proxy.sync()
    expect(heard).to_have_text("1 change needs a decision")
    backend.stop()
    proxy.sync()
    expect(heard).to_have_text("Cannot reach the backend.")


VIEWS = {
    "todos": ".todos li", "conflicts": "main .empty", "queue": ".operations li",
    "tables": ".grid tbody tr", "history": ".history li", "status": "#ledger-title",
}


def test_every_view_can_be_used_at_four_times_the_size(alone, dashboard):
    """1280 x 1024 at 400 % is a window of 320 x 256 CSS pixels."""
    alone.insert({"text": "one", "complete": False})
    page = dashboard(alone, viewport={"width": 320, "height": 256})
    for view, selector in VIEWS.items():
        page.open(view)
        expect(page.page.locator(selector).first).to_be_attached()
        page.no_overflow(view)
        reached = page.page.evaluate(
            """() => [...document.querySelectorAll("main button, main a, main input, main select")]
              .filter(one => one.checkVisibility())
              .every(one => { one.scrollIntoView({ block: "center" }); const at = one.getBoundingClientRect();
                return at.bottom <= innerHeight + 1 && at.top >= -1; })""")
        assert reached, f"something in {view} cannot be scrolled to"
    page.open("todos")
    page.page.get_by_label("Complete “one”").check()
    expect(page.todo("one")).to_have_class("done")


SCRIPT = "<img src=x onerror=\"window.owned=1\"><script>window.owned=1</script><svg onload=\"window.owned=1\">"


def test_script_in_rows_conflicts_errors_and_searches_is_text_in_every_view(pair, dashboard):
    backend, proxy = pair
    proxy.insert({"id": "c", "text": SCRIPT, SCRIPT[:40]: SCRIPT})
    proxy.sync()
    proxy.update("c", {"text": SCRIPT + "mine"})
    backend.update("c", {"text": SCRIPT + "theirs"})
    proxy.insert({"id": SCRIPT.replace("/", "-").replace("\"", "'"), "text": "an id"})
    proxy.request("GET", "/tables/todoitem", headers={"Origin": "https://" + SCRIPT})
    requests.get(proxy.url + "/tables/todoitem", headers={"Host": SCRIPT}, timeout=10)
    proxy.sync()
    proxy.insert({"text": SCRIPT + "queued"})
    page = dashboard(proxy)
    assert "link=" not in page.page.url  # The sign-in code does not stay in the address.
    for view in ("todos", "conflicts", "queue", "tables", "history", "status", "queue?q=" + SCRIPT):
        page.open(view)
        expect(page.page.locator("main h1")).to_have_count(1)
        if view in ("todos", "conflicts", "queue", "history"):
            expect(page.page.locator("main").get_by_text("<img src=x").first).to_be_visible()
        assert page.page.evaluate("window.owned") is None, view


def test_nothing_tells_another_site_where_the_page_is(alone):
    for name in FILES:
        fields = requests.get(f"{alone.url}/-/{name}", timeout=10).headers
        assert fields["Referrer-Policy"] == "no-referrer"
        assert fields["Cross-Origin-Resource-Policy"] == "same-origin"
        assert fields["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in fields["Content-Security-Policy"]


def clashing(pair, text):
    """A proxy whose text of a todo is in conflict with the backend's."""
    backend, proxy = pair
    backend.insert({"id": "c", "text": "base"})
    proxy.sync()
    proxy.update("c", {"text": text})
    backend.update("c", {"text": "theirs"})
    proxy.sync()
    return proxy


def test_the_head_leaves_room_for_the_view_at_four_times_the_size(pair, dashboard):
    """In a window of 320 x 256 each view begins in the upper half, and nothing of the head is out of reach."""
    page = dashboard(clashing(pair, "mine"), viewport={"width": 320, "height": 256})
    expect(page.page.locator("#connection")).to_contain_text("1 change needs a decision")
    for view in VIEWS:
        page.open(view)
        expect(page.page.locator("main > *").first).to_be_visible()
        top = page.page.locator("main > *").first.bounding_box()["y"]
        assert top <= 140, f"{view} begins at {top} px"
        page.no_overflow(view)
    page.accessible()
    for name in ("Work offline", "Sync now", "Keyboard", "Theme: as the system"):
        expect(page.page.locator(".top").get_by_role("button", name=name)).to_be_in_viewport(ratio=1)


@pytest.fixture(scope="module", params=["unbroken" * 90, "many words " * 380])
def long_title(start_shared, request):
    """A proxy with one todo with a long title. Each test deletes it and takes that back."""
    name = request.param[:8].strip()
    backend = start_shared.backend(folder=f"{name}-backend")
    backend.insert({"id": request.param[:200].replace(" ", "-"), "text": request.param})
    proxy = start_shared.proxy(backend.url, "--table", "todoitem", "--sync", "manual", folder=name)
    proxy.sync()
    return proxy


@pytest.mark.parametrize("width", [320, 720, 1440])
def test_undo_stays_in_the_window_however_long_a_title_is(long_title, dashboard, width):
    page = dashboard(long_title, viewport={"width": width, "height": 640})
    page.open("todos")
    page.page.locator(".todos").get_by_role("button", name="Delete").click()
    undo = page.page.locator("#toast").get_by_role("button", name="Undo")
    expect(undo).to_be_in_viewport(ratio=1)
    assert page.page.locator("#toast").bounding_box()["height"] < 130
    page.no_overflow("a message")
    undo.click()
    expect(page.page.locator(".todos li")).to_have_count(1)


def test_with_forced_colours_the_pressed_choice_and_the_key_of_a_plot_can_be_seen(alone, dashboard):
    alone.insert({"text": "one", "complete": False})
    page = dashboard(alone, forced_colors="active", viewport={"width": 1280, "height": 900})
    ground = "one => getComputedStyle(one).backgroundColor"
    for view in ("todos", "queue"):
        page.open(view)
        pressed = page.page.locator(".segments [aria-pressed=true]")
        expect(pressed).to_have_count(1)
        others = page.page.locator(".segments [aria-pressed=false]")
        assert pressed.evaluate(ground) not in others.evaluate_all(f"all => all.map({ground})"), view
    page.page.get_by_text("Overview", exact=True).click()
    squares = page.page.locator(".plot-key i[class]")
    expect(squares.first).to_be_visible()
    paper = page.page.locator(".plot-key").first.evaluate(
        "one => getComputedStyle(one.closest('details')).backgroundColor")
    assert paper not in squares.evaluate_all(f"all => all.map({ground})")


def test_an_address_with_the_name_of_a_property_of_every_object_shows_the_todos(alone, dashboard):
    alone.insert({"text": "one", "complete": False})
    page = dashboard(alone)
    for place in ("constructor", "__proto__", "todos?show=constructor&sort=toString"):
        page.open(place)
        page.page.reload()
        expect(page.page).to_have_title("Todos – Understudy")
        expect(page.todo("one")).to_have_count(1)
        expect(page.page.locator("#toast")).to_be_hidden()


def test_the_lines_of_a_title_are_shown_as_lines_in_every_list(pair, dashboard):
    page = dashboard(clashing(pair, "line one\nline two"))
    page.open("conflicts")
    expect(page.page.locator("#conflict-title")).to_contain_text("line one ↵ line two")
    page.open("tables/todoitem")
    expect(page.page.locator(".grid tbody tr")).to_contain_text("line one ↵ line two")
    page.open("queue")
    row = page.page.locator(".operations li")
    expect(row).to_contain_text("line one ↵ line two")
    row.locator("[data-open]").click()
    expect(page.page.locator("#operation-title")).to_contain_text("line one ↵ line two")
