"""Sync, push and pull asked for in offline mode, and what a run says of itself."""

import time

import requests
from programs import wait_until


def test_a_run_in_offline_mode_ends_at_once_and_says_so(world):
    world.start_backend("--samples")
    world.start_proxy()
    world.insert({"text": "waits"})
    world.person.run("offline")
    for command in (("sync",), ("push",), ("pull", "todoitem")):
        began = time.monotonic()
        told = world.person.run(*command, expect=3)
        assert time.monotonic() - began < 10
        assert "Offline mode is on" in told.stdout and "understudy online" in told.stdout
    runs = world.person.json("runs")["items"]
    assert [one["state"] for one in runs[:3]] == ["offline"] * 3
    assert {one["kind"] for one in runs[:3]} == {"sync", "push", "pull"}
    world.person.run("online")
    assert world.person.run("sync").stdout.startswith("sync: complete")


def test_sync_ends_with_4_while_a_conflict_is_open(world):
    world.start_backend("--samples")
    world.start_proxy()
    world.person.run("sync")
    item = world.insert({"id": "both", "text": "first"})
    world.person.run("sync")
    world.update(item["id"], {"text": "mine"})
    world.update(item["id"], {"text": "theirs"}, url=world.backend_url)
    world.person.run("sync", expect=4)
    # It is still open, and this run has nothing to send.
    world.person.run("sync", expect=4)
    world.person.run("push", expect=4)
    lines = wait_until(lambda: [one for one in world.proxy.said().splitlines() if "run ended" in one], what="the log")
    assert any('"conflicts":1' in line for line in lines), lines


def test_groups_count_what_only_waits_for_its_turn(world):
    world.start_proxy()
    for number in range(3):
        world.insert({"text": f"{number}"})
    assert "3 queued" in world.person.run("queue", "groups").stdout
    groups = world.person.json("queue", "groups")
    unknown = dict.fromkeys(("status", "reason", "since", "firstTriedAt", "lastTriedAt"))
    assert groups["items"] == [{"state": "queued", "count": 3, **unknown}]
    assert groups["total"] == 1


def test_the_queue_says_what_holds_it(world):
    world.start_backend("--samples")
    world.start_proxy()
    world.person.run("sync")
    world.insert({"text": "waits"})
    groups = world.person.json("queue", "groups")
    assert groups["held"] == "A write starts no push (sync = manual); `understudy sync` sends them."
    first = world.person.json("queue")["items"][0]["id"]
    for words in (("queue",), ("queue", "groups"), ("queue", "show", first)):
        assert f"Held: {groups['held']}" in world.person.run(*words).stdout, words
    world.person.run("offline")
    assert world.person.json("queue", "groups")["held"] == "Offline mode is on; `understudy online` ends it."
    status = world.person.run("status", expect=3).stdout
    assert "offline by choice; `understudy online` ends it" in status


def test_a_run_that_ends_with_1_says_why_on_standard_error(world):
    world.start_backend("--samples", "--faults")
    world.start_proxy()
    world.person.run("sync")
    faults = {"rules": [{"kind": "status", "status": 503, "methods": ["POST"], "retryAfter": 600}]}
    requests.put(f"{world.backend_url}/-/faults", json=faults, timeout=5)
    world.insert({"text": "waits"})
    for words in (("sync",), ("push", "--quiet")):
        said = world.person.run(*words, expect=1)
        assert said.stderr.startswith("understudy: The ") and " waits to be tried again" in said.stderr, said
    again = world.person.json("queue")["items"][0]["nextAttemptAt"]
    assert f"(again at {again})" in world.person.run("queue").stdout
    assert f"tried again at {again}" in world.person.run("push", expect=1).stdout
