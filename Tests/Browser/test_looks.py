"""Every view at every width in both themes: no axe finding, nothing cut off, a screenshot saved."""

import pytest
from playwright.sync_api import expect

LONG = "A very long todo without end: " + "buy everything on the list that is longer than the shop " * 4


@pytest.fixture(scope="module")
def furnished(start_shared):
    """A proxy with data in every view, which the tests only look at."""
    start = start_shared
    backend = start.backend("--faults")
    for id, text in [("eggs", "Buy eggs"), ("milk", "Buy milk"), ("post", "Post the letter")]:
        backend.insert({"id": id, "text": text, "complete": id == "post"})
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    proxy.sync()
    proxy.update("eggs", {"text": "Buy eggs (6)"})
    backend.update("eggs", {"text": "Buy organic eggs"})
    proxy.sync()
    proxy.insert({"text": LONG, "complete": False})
    proxy.insert({"text": "Unbreakable" * 12, "complete": False})
    return proxy


LOOKS = [(theme, width) for width in (320, 720, 1440, 2560) for theme in ("light", "dark")]


@pytest.mark.parametrize("theme, width", [*LOOKS, ("forced", 1440)])
def test_every_view(furnished, dashboard, theme, width):
    colours = {"forced_colors": "active"} if theme == "forced" else {"color_scheme": theme}
    page = dashboard(furnished, **colours, viewport={"width": width, "height": 900})
    ready = {
        "todos": ".todos li",
        "conflicts": ".conflict",
        "queue": ".operations li",
        "tables": ".grid tbody tr",
        "history": ".history li",
        "status": "#ledger-title",
    }
    for view, selector in ready.items():
        page.open(view)
        expect(page.page.locator(selector).first).to_be_visible()
        page.no_overflow(view)
        page.accessible()
        page.screenshot(f"{view}-{width}-{theme}")
