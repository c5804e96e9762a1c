"""A store that has used up its disk budget: what health, doctor, status and log say, and what is on disk."""

import json
import re

import pytest
import requests
from programs import free_port, wait_until


@pytest.fixture
def full(start):
    """A proxy whose store takes no more rows of this size, and the ids of those that it took."""
    proxy = start.proxy(f"http://127.0.0.1:{free_port()}", "--sync", "manual", "--disk-budget", "10M")
    ids = []
    for _ in range(200):
        answer = proxy.request("POST", "/tables/todoitem", json={"text": "x" * 100_000})
        if answer.status_code != 201:
            break
        ids.append(answer.json()["id"])
    assert answer.status_code == 507, answer.text
    proxy.refusal = answer.json()["error"]
    return proxy, ids


def ready(proxy):
    return requests.get(proxy.url + "/-/readyz", timeout=5)


def test_a_used_up_budget_shows_everywhere_until_there_is_room(full):
    proxy, ids = full
    assert "disk-budget" in proxy.refusal and "disk is full" not in proxy.refusal
    wait_until(lambda: ready(proxy).status_code == 503, what="readyz")
    assert "budget" in ready(proxy).text
    assert any("disk budget is used up" in one for one in proxy.status()["warnings"])
    lines = [json.loads(line) for line in proxy.program.lines if line.startswith("{")]
    refused = [one for one in lines if one["message"] == "writes refused"]
    assert refused and refused[0]["status"] == 507 and refused[0]["writes"] == 1, lines
    assert "budget" in refused[0]["reason"]
    # Many refused writes do not fill the log.
    for _ in range(20):
        proxy.request("POST", "/tables/todoitem", json={"text": "x" * 100_000})
    assert sum("writes refused" in line for line in proxy.program.lines) <= 2
    for one in proxy.operator("GET", "/operations?limit=10")["items"]:
        proxy.operator("POST", f"/operations/{one['id']}/discard", json={"revision": one["revision"]})
    wait_until(lambda: ready(proxy).status_code == 200, what="readyz")
    assert not any("disk budget" in one for one in proxy.status()["warnings"])
    assert proxy.request("POST", "/tables/todoitem", json={"text": "y"}).status_code == 201


def test_doctor_says_that_the_budget_is_used_up(full):
    proxy, _ = full
    # So that not even a small write fits.
    for _ in range(400):
        if proxy.request("POST", "/tables/todoitem", json={"text": "y" * 5_000}).status_code == 507:
            break
    # The budget is a flag of the running Understudy.
    running = proxy.command("doctor")
    assert re.search(r"warning +disk budget", running.stdout), running.stdout
    proxy.stop()
    looked = proxy.command("doctor")
    assert "disk budget" not in looked.stdout  # The command has no budget.
    (proxy.folder.parent / "u.conf").write_text("disk-budget = 10M\n")
    looked = proxy.command("doctor", "--config", proxy.folder.parent / "u.conf")
    assert re.search(r"warning +disk budget", looked.stdout), looked.stdout
