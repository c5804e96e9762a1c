"""Calls to the disk fail: the client gets an error, no acknowledged write is lost, and later requests
work again.

DISK_FAULTS sets the number of faults, DISK_SEED the seed (`make soak`).
"""

import errno
import os
import random
import sqlite3

from programs import Proxy, wait_until
from simulated_disk import FaultyDisk

FAULTS = int(os.environ.get("DISK_FAULTS", "15"))
SEED = int(os.environ.get("DISK_SEED", "1"))
KINDS = ["write", "write", "short", "sync", "sync", "truncate", "open", "read"]


def test_no_failed_disk_call_loses_an_acknowledged_write(start, tmp_path):
    print(f"DISK_SEED={SEED} DISK_FAULTS={FAULTS}")
    plan = random.Random(SEED)
    backend = start.backend()
    folder = tmp_path / "proxy"
    disk = FaultyDisk(tmp_path, folder)
    proxy = Proxy(folder, backend.url, ["--sync", "manual"])
    proxy.environment = disk.environment
    proxy.start()
    pasts = {}
    met = 0
    try:
        for number in range(FAULTS):
            kind = plan.choice(KINDS)
            error = plan.choice([errno.EIO, errno.ENOSPC]) if kind != "read" else errno.EIO
            disk.fail(kind, error, before=plan.choice([0, 0, 1, 3, 10]))
            for attempt in range(12):
                write(proxy, pasts, plan, f"{number} {attempt}")
                if plan.random() < 0.2:
                    proxy.operator("POST", "/sync?wait=30", json={}, expect=None)
            met += disk.stop_failing()
            name = f"fault {number}: {kind} with {errno.errorcode[error]}"
            wait_until(lambda: write(proxy, pasts, plan, "after"), what=f"a write after {name}")
            look(proxy, pasts, name)
            if plan.random() < 0.2:
                proxy.program.kill()
                proxy.start()
                look(proxy, pasts, f"a restart after {name}")
        assert met > FAULTS // 3, "most faults were met"
        run = wait_until(lambda: complete(proxy), 30, "a complete sync")
        assert run["state"] == "complete"
        look(proxy, pasts, "the end")
        rows = {row["id"]: row["text"] for row in proxy.all()}
        assert {row["id"]: row["text"] for row in backend.all()} == rows
    finally:
        proxy.program.kill()
    for store in folder.rglob("*.sqlite"):
        with sqlite3.connect(store) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def complete(proxy):
    run = proxy.sync()
    return run if run["state"] == "complete" else None


def write(proxy, pasts, plan, text):
    """Inserts, changes or deletes an item; notes and returns whether that was acknowledged."""
    alive = [id for id, past in pasts.items() if past[-1] != (None, True)]
    body = {"text": text, "more": "x" * plan.choice([0, 0, 20_000])}
    chance = plan.random()
    if not alive or chance < 0.4:
        id, change = f"i{len(pasts)}", text
        answer = proxy.request("POST", "/tables/todoitem", json={"id": id, **body})
        pasts[id] = [(None, True)]
    elif chance < 0.9:
        id, change = plan.choice(alive), text
        answer = proxy.request("PATCH", f"/tables/todoitem/{id}", json=body)
    else:
        id, change = plan.choice(alive), None
        answer = proxy.request("DELETE", f"/tables/todoitem/{id}")
    isDone = answer.status_code in (200, 201, 204)
    if not isDone and answer.status_code not in (404, 410):
        # 404 is right where a delete that was not acknowledged took effect.
        assert answer.status_code in (500, 503, 507), f"{answer.status_code} {answer.text}"
        assert answer.json()["error"], answer.text
    pasts[id].append((change, isDone))
    return isDone


def look(proxy, pasts, name):
    """Each item has the last acknowledged value, or that of a later write that was not acknowledged."""
    for id, past in pasts.items():
        answer = proxy.get(id)
        assert answer.status_code in (200, 404), f"{name}: {answer.status_code} {answer.text}"
        found = answer.json()["text"] if answer.status_code == 200 else None
        last = max(at for at, (_, promised) in enumerate(past) if promised)
        possible = {text for text, _ in past[last:]}
        assert found in possible, f"{name}: {id} reads {found!r}, not one of {possible}"
        past.append((found, True))
