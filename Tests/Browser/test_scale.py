"""One scale for all views: one container, three sizes of text, controls of one height, tabs that keep their place."""

import pytest
from playwright.sync_api import expect

VIEWS = {
    "todos": ".todos li", "conflicts": ".conflict", "queue": ".operations li", "tables": ".grid tbody tr",
    "history": ".history li", "history/runs": ".runs tbody tr", "status": "#ledger-title",
}


def furnish(start):
    backend = start.backend()
    for n in range(3):
        backend.insert({"id": f"a{n}", "text": f"todo {n}"})
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    proxy.sync()
    proxy.update("a0", {"text": "mine"})
    backend.update("a0", {"text": "theirs"})
    proxy.sync()
    return proxy


@pytest.fixture(scope="module")
def furnished(start_shared):
    return furnish(start_shared)


@pytest.mark.parametrize("width", [320, 720, 1440, 2560])
def test_no_edge_jumps_between_views(furnished, dashboard, width):
    page = dashboard(furnished, viewport={"width": width, "height": 900})
    edges = {}
    for view, selector in VIEWS.items():
        page.open(view)
        expect(page.page.locator(selector).first).to_be_visible()
        edges[view] = page.page.evaluate("""() => {
          const inner = (element) => {
            const { left, right } = element.getBoundingClientRect();
            const { paddingLeft, paddingRight } = getComputedStyle(element);
            return [left + parseFloat(paddingLeft), right - parseFloat(paddingRight)].map(Math.round);
          };
          return [inner(document.querySelector(".top")), inner(document.querySelector("main")),
            inner(document.querySelector("main > .page"))];
        }""")
    wanted = edges["todos"][0]
    assert {tuple(edge) for three in edges.values() for edge in three} == {tuple(wanted)}, edges
    assert wanted[0] >= 16


def test_tables_use_a_wide_page_and_texts_do_not(furnished, dashboard):
    page = dashboard(furnished, viewport={"width": 2560, "height": 900})
    for view, selector, least, most in [
        ("queue", ".operations", 2200, 2560), ("tables", ".grid", 2200, 2560), ("history/runs", ".grid", 2200, 2560),
        ("todos", ".todos", 1000, 1440), ("history", ".history", 1000, 1440),
    ]:
        page.open(view)
        shown = page.page.locator(selector).first
        expect(shown).to_be_visible()
        width = shown.bounding_box()["width"]
        assert least <= width <= most, (view, width)


def test_three_sizes_of_text_and_controls_of_one_height(furnished, dashboard):
    page = dashboard(furnished, viewport={"width": 1440, "height": 900})
    for view, selector in VIEWS.items():
        page.open(view)
        expect(page.page.locator(selector).first).to_be_visible()
        found = page.page.evaluate("""() => {
          const sizes = {}, heights = {};
          const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
          for (const element of document.querySelectorAll("body *")) {
            const hasText = [...element.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
            if (hasText && isShown(element)) {
              sizes[parseFloat(getComputedStyle(element).fontSize)] ??= element.outerHTML.slice(0, 90);
            }
          }
          const controls = "button:not(.link, .text, .head), select, .button, "
            + "input:not([type=checkbox], [type=radio])";
          for (const element of document.querySelectorAll(controls)) {
            if (isShown(element) && element.offsetHeight)
              heights[element.offsetHeight] ??= element.outerHTML.slice(0, 90);
          }
          return { sizes, heights };
        }""")
        assert set(found["sizes"]) <= {"14", "16", "20"}, (view, found["sizes"])
        assert set(found["heights"]) <= {"36"}, (view, found["heights"])


def test_a_tab_keeps_its_place_when_it_is_the_current_one(furnished, dashboard):
    page = dashboard(furnished, viewport={"width": 1440, "height": 900})
    places = []
    for view, selector in VIEWS.items():
        page.open(view)
        expect(page.page.locator(selector).first).to_be_visible()
        expect(page.page.locator("#badge-conflicts")).to_be_visible()
        places.append(page.page.evaluate(
            "[...document.querySelectorAll('#nav a')].map((one) => Math.round(one.getBoundingClientRect().x))"))
    assert all(place == places[0] for place in places), places


def test_the_head_is_small_on_a_telephone(start, dashboard):
    """Also with changes that need a decision, and while a person works offline."""
    proxy = furnish(start)
    page = dashboard(proxy, viewport={"width": 320, "height": 900})
    expect(page.page.locator("#connection")).to_contain_text("1 change needs a decision")
    assert page.page.locator(".top").bounding_box()["height"] <= 120
    proxy.insert({"text": "waits"})
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    expect(page.page.locator(".pill")).to_contain_text("offline", ignore_case=True)
    assert page.page.locator(".top").bounding_box()["height"] <= 120
