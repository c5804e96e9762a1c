"""The real binary under load, on a bad line, killed at random moments.

Four clients write through the proxy; between the proxy and the backend is a TCP link that delays,
cuts, tears, partitions and swallows answers of requests that took effect. Every client owns its
items and counts one column up, so a lost write shows as a value that went back, and the backend
counts every effect by the operation that caused it.

The seed is printed; `FAULTS_SEED=… pytest Tests/Live/test_faults.py` draws the same faults (not the
same interleaving: these are real processes) and `FAULTS_KILLS=…` kills more often.
"""

import collections
import os
import random
import shutil
import socket
import sqlite3
import threading
import time
import uuid

import requests
from programs import ZUMO, wait_until

KILLS = int(os.environ.get("FAULTS_KILLS", "50"))
SECONDS_TO_READY = 2.0
CLIENTS = 4


class BadLine:
    """A TCP link to a backend. `fault_rate` is the share of chunks with a fault, from 0 to 1."""

    FAULTS = ("delay", "cut", "tear the request", "lose the answer", "tear the answer", "swallow")

    def __init__(self, port, seed):
        self.target = port
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.fault_rate = 0.0
        self.parted = False
        self.open = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def part(self, parted):
        """A partition breaks open connections and lets nothing through until it ends."""
        with self.lock:
            self.parted = parted
            self.counts["part"] += parted
            broken = list(self.open) if parted else []
        for one in broken:
            self._close(one)

    def _draw(self, faults):
        with self.lock:
            if self.random.random() >= self.fault_rate:
                return None
            # One that has not happened yet comes first, so that every run has all of them.
            fault = self.random.choice([one for one in faults if not self.counts[one]] or faults)
            self.counts[fault] += 1
            return fault

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.parted:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.open |= {near, far}
            there = ("delay", "cut", "tear the request")
            back = ("delay", "lose the answer", "tear the answer", "swallow")
            threading.Thread(target=self._carry, args=(near, far, there), daemon=True).start()
            threading.Thread(target=self._carry, args=(far, near, back), daemon=True).start()

    def _carry(self, source, sink, faults):
        try:
            while chunk := source.recv(65536):
                fault = self._draw(faults)
                if fault == "delay":
                    time.sleep(0.05)
                elif fault in ("tear the request", "tear the answer"):
                    sink.sendall(chunk[: len(chunk) // 2])
                    break
                elif fault == "swallow":
                    time.sleep(0.3)
                    break
                elif fault:
                    break
                sink.sendall(chunk)
        except OSError:
            pass  # the other direction has broken it
        self._close(source)
        self._close(sink)

    def _close(self, one):
        with self.lock:
            self.open.discard(one)
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already
        one.close()

    def close(self):
        self.listener.close()


class Client(threading.Thread):
    """Inserts, counts up and deletes its own items, and remembers every acknowledged value."""

    def __init__(self, url, seed):
        super().__init__(daemon=True)
        self.url = url
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.acknowledged = {}  # id → the last acknowledged value; None when deleted
        self.tried = {}  # id → the last value that was sent; None for a delete
        self.acknowledged_writes = 0
        self.faults = []
        self.ending = False

    def run(self):
        while not self.ending:
            try:
                self._write()
            except requests.RequestException:
                time.sleep(0.01)  # the proxy is dead; whether it took the write is unknown

    def _write(self):
        living = [id for id, value in self.tried.items() if value is not None]
        dice = self.random.random()
        if not living or dice < 0.35:
            id = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
            self._send("POST", "", id, 1, {"id": id, "n": 1, "text": "made here"}, 201)
        elif dice < 0.92:
            id = self.random.choice(living)
            self._send("PATCH", f"/{id}", id, self.tried[id] + 1, {"n": self.tried[id] + 1}, 200)
        else:
            id = self.random.choice(living)
            self._send("DELETE", f"/{id}", id, None, None, 204)
        time.sleep(0.004)

    def _send(self, method, path, id, value, body, expected):
        with self.lock:
            self.tried[id] = value
        answer = requests.request(
            method, f"{self.url}/tables/todoitem{path}", json=body, headers=ZUMO, timeout=10
        )
        if answer.status_code in (404, 503) and id not in self.acknowledged:
            with self.lock:
                self.tried[id] = None  # its insert was never acknowledged, and was not taken
            return
        with self.lock:
            if answer.status_code not in (expected, 200):
                self.faults.append(f"{method} {id}: {answer.status_code} {answer.text}")
                return
            self.acknowledged[id] = value
            self.acknowledged_writes += 1

    def kept(self):
        """The acknowledged values so far."""
        with self.lock:
            return dict(self.acknowledged)

    def asked(self):
        """The last sent values so far."""
        with self.lock:
            return dict(self.tried)


def effects(backend):
    """Every effect, page by page."""
    found = []
    while page := backend.request(
        "GET", "/-/effects", params={"after": found[-1]["number"] if found else 0}
    ).json()["effects"]:
        found += page
    return found


def integrity(folder, scratch):
    """SQLite's check of a copy of the files as the dead process left them."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    [store] = folder.glob("stores/*/store.sqlite")
    for name in ("store.sqlite", "store.sqlite-wal"):
        if (store.parent / name).exists():
            shutil.copy(store.parent / name, scratch / name)
    database = sqlite3.connect(scratch / "store.sqlite")
    try:
        return [row[0] for row in database.execute("PRAGMA integrity_check")]
    finally:
        database.close()


def stable(proxy):
    """Every row while other clients write, paged by id, so that a deletion shifts no page."""
    rows = []
    while True:
        behind = {"$filter": f"id gt '{rows[-1]['id']}'"} if rows else {}
        answer = proxy.request(
            "GET", "/tables/todoitem", params={"$top": 1000, "$orderby": "id", **behind})
        assert answer.status_code == 200, answer.text
        if not answer.json():
            return rows
        rows += answer.json()


def lost_values(acknowledged, tried, rows):
    """Values that were acknowledged before `rows` were read, are not in them, and were not undone since."""
    for id, value in acknowledged.items():
        asked, row = tried[id], rows.get(id)
        if value is None and row is not None:
            yield f"{id} was deleted and lives on: {row}"
        elif value is not None and row is None and asked is not None:
            yield f"{id} is lost; it was acknowledged {value}"
        elif value is not None and row is not None and row["n"] < value:
            yield f"{id} went back to {row['n']}; it was acknowledged {value}"


def seconds_to_ready(proxy):
    began = time.monotonic()
    proxy.start()
    return time.monotonic() - began


def test_no_kill_and_no_faulty_link_loses_or_repeats_a_write(start, tmp_path):
    seed = int(os.environ.get("FAULTS_SEED", random.SystemRandom().getrandbits(32)))
    print(f"FAULTS_SEED={seed}")
    dice = random.Random(seed)
    backend = start.backend("--faults")
    line = BadLine(backend.port, seed + 1)
    proxy = start.proxy(line.url, "--table", "todoitem")
    proxy.sync()  # The first pull is over: from here on a list is answered from the store.
    clients = [Client(proxy.url, seed + 2 + n) for n in range(CLIENTS)]
    for client in clients:
        client.start()
    slowest, lost, damaged = 0.0, [], []
    for kill in range(KILLS):
        line.fault_rate = dice.choice([0.0, 0.05, 0.2, 0.5])
        line.part(dice.random() < 0.2)
        time.sleep(dice.uniform(0.01, 0.5))
        proxy.program.kill()
        before = [client.kept() for client in clients]
        verdict = integrity(proxy.folder, tmp_path / "copy")
        if verdict != ["ok"]:
            damaged.append((kill, verdict))
        killed = tmp_path / f"killed{kill}"
        shutil.copytree(proxy.folder, killed, ignore=shutil.ignore_patterns("socket"))
        seconds = seconds_to_ready(proxy)
        if seconds >= SECONDS_TO_READY:  # Other work on the machine also takes time, so the same files start again.
            again = start.proxy_later(line.url, "--table", "todoitem", "--sync", "manual", folder=killed.name)
            seconds = min(seconds, seconds_to_ready(again))
            again.stop()
        shutil.rmtree(killed)
        slowest = max(slowest, seconds)
        rows = {row["id"]: row for row in stable(proxy)}
        for client, acknowledged in zip(clients, before):
            broken = lost_values(acknowledged, client.asked(), rows)
            lost += [f"kill {kill}: {text}" for text in broken]
        assert not lost, lost[:5]
        assert not damaged, damaged
    for client in clients:
        client.ending = True
    for client in clients:
        client.join(15)
    line.fault_rate = 0.0
    line.part(False)
    check_the_end(backend, proxy, clients)
    written = sum(client.acknowledged_writes for client in clients)
    print(f"{KILLS} kills, {written} writes acknowledged, ready in at most {slowest:.2f} s,", end=" ")
    print(f"faults of the line: {dict(line.counts)}")
    line.close()
    assert slowest < SECONDS_TO_READY, f"ready after {slowest:.2f} s"
    assert written > 5 * KILLS, "there was no load"
    missing = {*BadLine.FAULTS, "part"} - set(line.counts)
    assert KILLS < 50 or not missing, f"these faults never happened: {missing}"


def check_the_end(backend, proxy, clients):
    """The link works again: everything arrives once, and both sides hold the same rows."""

    def drained():
        queue = proxy.status()["queue"]
        return not any(queue.values())

    proxy.operator("POST", "/operations/retry", expect=None, json={"filter": {}, "all": True})
    wait_until(drained, 120, "an empty queue")
    proxy.sync()
    ledger = proxy.status()["ledger"]
    closed = ledger["applied"] + ledger["collapsed"] + ledger["discarded"]
    assert ledger["accepted"] == closed, ledger
    assert ledger["discarded"] == 0, ledger

    there = {row["id"]: row for row in backend.all()}
    here = {row["id"]: row for row in proxy.all()}
    assert {id: row["n"] for id, row in here.items()} == {id: row["n"] for id, row in there.items()}
    for client in clients:
        assert not client.faults, client.faults[:5]
        lost = list(lost_values(client.kept(), client.asked(), there))
        assert not lost, lost[:5]

    done = effects(backend)
    twice = {
        key: count
        for key, count in collections.Counter(e["idempotencyKey"] for e in done).items()
        if count > 1
    }
    assert not twice, f"operations that took effect twice: {twice}"
    born = collections.Counter(e["id"] for e in done if e["kind"] == "insert")
    assert max(born.values()) == 1, "an item was inserted twice"
