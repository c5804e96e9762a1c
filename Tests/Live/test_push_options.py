"""`--parallelism` and `--strict-sdk` in the running program."""

import time

from programs import wait_until

SLOW = 0.3  # seconds that each answer of the backend takes


def test_changes_of_different_items_are_sent_concurrently_and_those_of_one_in_order(start):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url, "--sync", "manual", "--parallelism", "8")
    ids = [proxy.insert({"id": f"i{n}", "text": "new"})["id"] for n in range(16)]
    assert proxy.sync()["state"] == "complete"
    backend.faults({"kind": "latency", "milliseconds": int(SLOW * 1000)})
    for id in ids:
        proxy.update(id, {"text": "first"})
    began = time.monotonic()
    run = proxy.operator("POST", "/push?wait=30", json={})
    took = time.monotonic() - began
    assert (run["state"], run["push"]["applied"]) == ("complete", 16), run
    # One after the other they would take 16 times as long as one.
    assert took < 8 * SLOW, took
    backend.faults()

    for id in ids:
        proxy.update(id, {"text": "second"})
        proxy.delete(id)
    wait_until(lambda: proxy.operator("POST", "/push?wait=30", json={})["push"]["left"] == 0)
    assert backend.all() == []
    effects = backend.request("GET", "/-/effects").json()["effects"]
    assert len({one["idempotencyKey"] for one in effects}) == len(effects), "each took effect once"
    for id in ids:
        kinds = [one["kind"] for one in effects if one["id"] == id]
        assert kinds[:2] == ["insert", "update"] and kinds[-1] == "delete", kinds


def test_strict_sdk_refuses_what_the_sdks_queues_refuse(start):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual", "--strict-sdk")
    proxy.insert({"id": "a", "text": "old"})
    assert proxy.sync()["state"] == "complete"
    proxy.delete("a")
    for method in ("PATCH", "DELETE"):
        answer = proxy.request(method, "/tables/todoitem/a", json={"text": "again"})
        assert answer.status_code == 400, answer.text
        assert "-1150" in answer.json()["error"]
    answer = proxy.request("POST", "/tables/todoitem", json={"id": "a", "text": "again"})
    assert answer.status_code == 400 and "-1150" in answer.json()["error"], answer.text
    assert proxy.operator("GET", "/operations")["total"] == 1
    assert proxy.sync()["state"] == "complete"
    assert backend.all() == []
