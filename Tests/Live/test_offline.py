"""While the backend cannot be reached, clients are answered and the operator sees the reason."""

import pytest
from programs import free_port, wait_until


def test_the_queue_is_sent_when_the_backend_returns(start):
    backend = start.backend()
    proxy = start.proxy(backend.url)
    proxy.sync()
    backend.stop()
    item = proxy.insert({"text": "waits"})
    backend.start()
    wait_until(lambda: backend.get(item["id"]).status_code == 200, 30, "the todo on the backend")
    wait_until(lambda: proxy.status()["backend"]["state"] == "online", 10, "online")


def test_a_pull_pushes_what_is_pending_first(start):
    # Seed 000, step 13: "before a pull is executed, any pending operations are pushed".
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    item = proxy.insert({"text": "pending"})
    backend.insert({"id": "theirs", "text": "theirs"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=30", json={})
    assert backend.get(item["id"]).status_code == 200
    assert proxy.get("theirs").json()["text"] == "theirs"


@pytest.mark.parametrize("invalid", ["nothing-listens", "not-a-tables-server"])
def test_an_invalid_backend_address_can_be_corrected(start, invalid):
    # Seed 001, "Test the app": invalid address, add todos, quit, restart, the right address again.
    backend = start.backend()
    other = start.backend(folder="other")
    wrong = {
        "nothing-listens": f"http://127.0.0.1:{free_port()}",
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
