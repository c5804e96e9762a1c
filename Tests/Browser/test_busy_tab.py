"""What a tab asks for while much happens: at most two requests a second, whatever its view."""

import threading
import time

import pytest
from playwright.sync_api import expect

FAILURE = {"kind": "status", "status": 503}
WRITE_SECONDS = 0.15
MEASURED_SECONDS = 12
MOST_A_SECOND = 2

VIEWS = {
    "todos": ".todos li",
    "conflicts": "#conflict-title",
    "queue": ".operations li",
    "tables/todoitem": ".grid tbody tr",
    "history": ".history li",
    "history/runs": "#main table tbody tr",
    "status": "#ledger-title",
}


@pytest.fixture
def busy(start):
    """A client that writes seven times a second, while the backend fails every other moment."""
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url)
    rows = [proxy.insert({"text": f"row {number}", "complete": False}) for number in range(8)]
    assert proxy.sync()["state"] == "complete"
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    for row in rows[:2]:
        backend.update(row["id"], {"text": f"{row['text']} of the server"})
        proxy.update(row["id"], {"text": f"{row['text']} of mine"})
    proxy.operator("POST", "/mode", json={"mode": "online"})
    proxy.sync()
    assert proxy.operator("GET", "/conflicts")["total"] == 2
    ended = threading.Event()

    def write():
        number = 0
        while not ended.wait(WRITE_SECONDS):
            number += 1
            if number % 5 == 0:
                backend.faults(*([FAILURE] if number % 10 else []))
            proxy.update(rows[2 + number % 6]["id"], {"note": f"{number}"})

    worker = threading.Thread(target=write)
    worker.start()
    yield proxy
    ended.set()
    worker.join()


@pytest.mark.parametrize("view", VIEWS)
def test_a_busy_tab_asks_at_most_twice_a_second(busy, dashboard, view):
    page = dashboard(busy)
    page.open(view)
    expect(page.page.locator(VIEWS[view]).first).to_be_visible()
    page.page.wait_for_timeout(2_000)  # What opening the page asks for is over.
    paths = []
    page.page.on("request", lambda request: paths.append(request.url.split("?")[0].rsplit("/", 1)[1]))
    began = time.monotonic()
    page.page.wait_for_timeout(1_000 * MEASURED_SECONDS)  # The time over which the rate is measured.
    seconds = time.monotonic() - began
    rates = {path: round(paths.count(path) / seconds, 1) for path in sorted(set(paths))}
    print("requests a second:", view, round(len(paths) / seconds, 1), rates)
    assert "status" in rates, "the page follows what happens"
    assert len(paths) / seconds <= MOST_A_SECOND, rates
