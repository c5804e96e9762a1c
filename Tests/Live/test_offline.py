"""While the backend cannot be reached, clients are answered and the operator sees the reason."""

import pytest
from programs import free_port, wait_until


def test_offline_reads_and_writes_are_answered_and_status_has_the_reason(start):
    backend = start.backend()
    backend.insert({"id": "a", "text": "from the backend"})
    proxy = start.proxy(backend.url, "--table", "todoitem")
    proxy.sync()
    backend.stop()

    mine = proxy.insert({"text": "written offline"})
    assert proxy.get("a").json()["text"] == "from the backend"
    proxy.update("a", {"text": "edited offline"})
    answer = proxy.get(mine["id"])
    assert answer.status_code == 200
    assert answer.headers["Understudy-State"] == "pending"

    run = proxy.sync()
    assert run["state"] == "offline"
    status = proxy.status()
    assert status["backend"]["state"] == "offline"
    assert status["backend"]["reason"]
    assert status["queue"]["queued"] + status["queue"]["waiting"] == 2


def test_the_queue_is_sent_when_the_backend_returns(start):
    backend = start.backend()
    proxy = start.proxy(backend.url)
    proxy.sync()
    backend.stop()
    item = proxy.insert({"text": "waits"})
    backend.start()
    wait_until(lambda: backend.get(item["id"]).status_code == 200, 30, "the todo on the backend")
    wait_until(lambda: proxy.status()["backend"]["state"] == "online", 10, "online")


def test_manual_sync_sends_nothing_by_itself(start):
    # Seed 000, steps 11 to 13: add items, look at the backend (nothing), refresh, look again.
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    first = proxy.insert({"text": "Buy milk", "complete": False})
    second = proxy.insert({"text": "Buy bread", "complete": False})
    proxy.update(second["id"], {"complete": True})
    assert backend.all() == []

    run = proxy.sync()
    assert run["state"] == "complete"
    held = {row["id"]: (row["text"], row["complete"]) for row in backend.all()}
    assert held == {first["id"]: ("Buy milk", False), second["id"]: ("Buy bread", True)}

    # "You can also close the app after adding an item. When it is relaunched it will sync."
    third = proxy.insert({"text": "Buy tea"})
    proxy.stop()
    proxy.start()
    assert proxy.get(third["id"]).json()["text"] == "Buy tea"
    proxy.sync()
    assert backend.get(third["id"]).status_code == 200


def test_a_pull_pushes_what_is_pending_first(start):
    # Seed 000, step 13: "before a pull is executed, any pending operations are pushed".
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    item = proxy.insert({"text": "pending"})
    backend.insert({"id": "theirs", "text": "theirs"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=30", json={})
    assert backend.get(item["id"]).status_code == 200
    assert proxy.get("theirs").json()["text"] == "theirs"


@pytest.mark.parametrize("invalid", ["nothing-listens", "unknown-host", "not-a-tables-server"])
def test_an_invalid_backend_address_can_be_corrected(start, invalid):
    # Seed 001, "Test the app": invalid address, add todos, quit, restart, the right address again.
    backend = start.backend()
    other = start.backend(folder="other")
    wrong = {
        "nothing-listens": f"http://127.0.0.1:{free_port()}",
        "unknown-host": "https://nowhere.invalid",
        "not-a-tables-server": other.url + "/nowhere",
    }[invalid]
    proxy = start.proxy(wrong)
    items = [proxy.insert({"text": text}) for text in ("one", "two", "three")]
    proxy.stop()

    proxy.start()
    assert {row["id"] for row in proxy.all()} == {item["id"] for item in items}
    assert backend.all() == []
    proxy.stop()

    proxy.backend_url = backend.url
    proxy.start()
    run = proxy.sync()
    assert run["state"] == "complete", run
    assert {row["id"]: row["text"] for row in backend.all()} == {
        item["id"]: item["text"] for item in items
    }
