"""Every acknowledged write is there exactly once, whichever process is killed."""

import os
import subprocess

import pytest
import requests
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


@pytest.fixture
def small_disk(tmp_path):
    """A disk of four megabytes that can be made larger; skipped where the test may not mount one."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root may mount the small disk")

    def enlarge():
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)

    yield enlarge
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_reported_and_loses_no_acknowledged_write(start, small_disk):
    backend = start.backend_later("--faults")
    proxy = start.proxy(backend.url, folder="small/proxy")
    acknowledged = {}
    # Large writes until none fits, then small ones.
    for size in (20_000, 10):
        for n in range(2000):
            text = f"{size} {n} " + "x" * size
            answer = proxy.request("POST", "/tables/todoitem", json={"text": text})
            if answer.status_code != 201:
                break
            acknowledged[answer.json()["id"]] = text
        assert answer.status_code == 507, answer.text
        assert "full" in answer.json()["error"].lower()
    assert len(acknowledged) > 20

    # Existing rows can be read, and a refused write left nothing.
    assert {row["id"] for row in proxy.all()} == set(acknowledged)
    assert requests.get(proxy.url + "/-/livez", timeout=5).status_code == 200
    one = next(iter(acknowledged))
    assert proxy.get(one).json()["text"] == acknowledged[one]

    # The process was killed on the full disk; now there is room again.
    proxy.program.kill()
    small_disk()
    proxy.start()
    assert {row["id"]: row["text"] for row in proxy.all()} == acknowledged
    item = proxy.insert({"text": "there is room again"})
    acknowledged[item["id"]] = item["text"]

    backend.start()
    count = len(acknowledged)
    wait_until(
        lambda: proxy.status()["ledger"]["applied"] == count, 60, f"{count} operations applied"
    )
    assert {row["id"]: row["text"] for row in backend.all()} == acknowledged
    effects = backend.request("GET", "/-/effects").json()["effects"]
    assert len(effects) == count, "each write took effect exactly once"


def test_writes_go_on_when_a_full_disk_has_space_again(start, small_disk):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual", folder="small/proxy")
    kept = []
    while (
        answer := proxy.request("POST", "/tables/todoitem", json={"text": "y" * 20_000})
    ).status_code == 201:
        kept.append(answer.json()["id"])
    assert answer.status_code == 507
    small_disk()
    kept.append(proxy.insert({"text": "again"})["id"])
    run = proxy.sync()
    assert run["state"] == "complete", run
    assert {row["id"] for row in backend.all()} == set(kept)
