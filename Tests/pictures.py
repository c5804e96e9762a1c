"""Makes the pictures of the README from the demo's todos: `make pictures`."""

import pathlib
import shutil
import tempfile

from playwright.sync_api import expect, sync_playwright
from programs import ROOT, Backend, Proxy

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1180, "height": 800}
BOTH = "Renew the passport"
TAKEN = ("Call the dentist", "Water the tomatoes", "Plan the retrospective")


def prepare(backend, proxy):
    """One conflict, three changes that the backend refuses for one reason, and two that wait."""
    assert proxy.sync()["state"] == "complete"
    ids = {row["text"]: row["id"] for row in proxy.all()}
    proxy.update(ids[BOTH], {"text": "Renew the passport before the summer"})
    backend.update(ids[BOTH], {"text": "Renew the passport and the licence"})
    for text in TAKEN:
        proxy.insert({"text": text, "complete": False})
    proxy.sync()
    assert proxy.status()["queue"] | {"conflict": 1, "quarantined": 3} == proxy.status()["queue"]
    proxy.insert({"text": "Buy milk", "complete": False})
    proxy.update(ids["Back up the photos of 2025"], {"complete": True})


def take(page, address, name, ready, height=SIZE["height"]):
    page.set_viewport_size({**SIZE, "height": height})
    page.goto(address)
    ready()
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / f"{name}.png")
    print(IMAGES / f"{name}.png")


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    backend = Backend(folder / "backend", ["--samples", "--table", "todoitem:unique=text"])
    proxy = Proxy(folder / "proxy", backend.url, ["--sync", "manual"])
    try:
        backend.start()
        proxy.start()
        prepare(backend, proxy)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
            page.goto(proxy.operator("POST", "/links", expect=201, json={})["url"])
            view = f"{proxy.url}/-/#"
            milk = page.locator(".todos li").filter(has_text="Buy milk")
            take(page, f"{view}/todos", "todos", lambda: expect(milk).to_be_visible())
            title = page.get_by_role("heading", level=1)
            take(page, f"{view}/conflicts", "conflict", lambda: expect(title).to_contain_text(BOTH), 720)

            def open_refused():
                page.locator(".operations li").filter(has_text=TAKEN[1]).locator("[data-open]").click()
                expect(page.locator(".side h2")).to_contain_text(TAKEN[1])

            take(page, f"{view}/queue", "queue", open_refused, 1040)
            browser.close()
    finally:
        proxy.stop()
        backend.stop()
        shutil.rmtree(folder, ignore_errors=True)


main()
