"""What was acknowledged is there, once, whatever dies."""

from programs import wait_until


def test_two_hundred_offline_writes_survive_kill_nine_and_arrive_exactly_once(start):
    backend = start.backend("--faults")
    proxy = start.proxy(backend.url)
    backend.insert({"id": "before", "text": "was there already"})
    proxy.sync()

    backend.stop()
    texts = [f"todo number {n}" for n in range(200)]
    acknowledged = {proxy.insert({"text": text})["id"]: text for text in texts}
    assert len(acknowledged) == 200
    proxy.program.kill()

    backend.start()
    proxy.start()
    wait_until(
        lambda: proxy.status()["ledger"]["applied"] == 200, 30, "200 operations applied"
    )

    rows = {row["id"]: row["text"] for row in backend.all()}
    assert rows == {**acknowledged, "before": "was there already"}
    effects = backend.request("GET", "/-/effects").json()
    inserts = [e for e in effects["effects"] if e["id"] in acknowledged]
    assert len(inserts) == 200, "each item took effect exactly once"


def test_writes_survive_kill_nine_at_any_moment(start):
    backend = start.backend_later()
    proxy = start.proxy(backend.url)
    acknowledged = {}
    for round in range(8):
        for n in range(25):
            item = proxy.insert({"text": f"round {round} number {n}"})
            acknowledged[item["id"]] = item["text"]
        proxy.program.kill()
        proxy.start()
        assert {row["id"]: row["text"] for row in proxy.all()} == acknowledged
