"""Clients, a proxy and a backend, each a process, over a connection that breaks; proxy and backend are
killed at random. Every acknowledged write is there once, and in the end all have the same rows.

LIFE_SECONDS sets the length, LIFE_SEED the seed (`make soak`). A seed repeats the same plans, not the
same moments.
"""

import os
import random
import threading
import time

import pytest
import requests
from clients import BusyClient, stop
from programs import Tables, wait_until
from torn_wire import TornWire

SECONDS = float(os.environ.get("LIFE_SECONDS", "3"))
SEED = int(os.environ.get("LIFE_SEED", "1"))


class Person(BusyClient):
    """Writes its own items, one request at a time, and remembers what was acknowledged.

    An item's past is a list of (text, whether the answer came); the text None means no item.
    """

    def __init__(self, number, url):
        super().__init__(f"p{number}", url, f"{SEED} {number}")
        self.pasts = {}
        self.versions = {}
        self.lost_inserts = set()

    def step(self):
        self.count += 1
        text = f"{self.name} {self.count}"
        alive = [id for id, past in self.pasts.items() if past[-1] != (None, True)]
        chance = self.random.random()
        if not alive or chance < 0.3:
            return self.insert(text)
        id = self.random.choice(alive)
        if not self.pasts[id][-1][1]:
            return self.look(id)
        match = {"If-Match": f'"{self.versions[id]}"'} if self.random.random() < 0.6 else {}
        if chance < 0.8:
            self.update(id, text, match)
        else:
            self.delete(id, match)

    def insert(self, text):
        item = {"text": text}
        if self.random.random() < 0.6:
            item["id"] = f"{self.random.getrandbits(64):016x}-{self.name}"
        answer = self.send("POST", "", json=item)
        if answer is not None:
            assert answer.status_code == 201, f"insert: {answer.status_code} {answer.text}"
            self.keep(answer.json(), [(text, True)])
        elif "id" in item:
            self.pasts[item["id"]] = [(None, True), (text, False)]
        else:
            self.lost_inserts.add(text)

    def look(self, id):
        answer = self.send("GET", f"/{id}")
        # Until the first pull has ended, 503 means that it is not known whether the id exists.
        if answer is None or answer.status_code == 503:
            return
        found = answer.json()["text"] if answer.status_code == 200 else None
        assert answer.status_code in (200, 404, 410), f"read: {answer.status_code} {answer.text}"
        assert found in self.possible(id), f"{id} reads {found!r}: {self.pasts[id][-4:]}"
        self.pasts[id].append((found, True))
        if found is not None:
            self.versions[id] = answer.json()["version"]

    def update(self, id, text, match):
        answer = self.send("PATCH", f"/{id}", json={"id": id, "text": text}, headers=match)
        if answer is None:
            return self.pasts[id].append((text, False))
        assert answer.status_code == 200, f"update {match}: {answer.status_code} {answer.text}"
        assert answer.json()["text"] == text
        self.keep(answer.json(), self.pasts[id] + [(text, True)])

    def delete(self, id, match):
        answer = self.send("DELETE", f"/{id}", headers=match)
        # A Node server answers with the row.
        assert answer is None or answer.status_code in (200, 204), f"delete {match}: {answer.text}"
        self.pasts[id].append((None, answer is not None))

    def keep(self, item, past):
        self.pasts[item["id"]] = past
        self.versions[item["id"]] = item["version"]

    def possible(self, id):
        """The texts that the item may have: the last acknowledged one, and later ones without an answer."""
        texts = set()
        for text, promised in reversed(self.pasts[id]):
            texts.add(text)
            if promised:
                break
        return texts


class SyncingClient(threading.Thread):
    """Syncs as the SDKs do: pages by $skip through what changed since the latest updatedAt that it has."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.client = Tables(url)
        self.goes_on = True
        self.rows = {}
        self.token = "1970-01-01T00:00:00.000Z"

    def run(self):
        while self.goes_on:
            try:
                self.sync()
            except (requests.RequestException, AssertionError):
                pass  # The proxy is away; a lasting error shows at the end.
            time.sleep(0.02)

    def sync(self):
        skip = 0
        while True:
            query = {
                "$filter": f"(updatedAt ge datetimeoffset'{self.token}')",
                "$orderby": "updatedAt",
                "$top": 50,
                "$skip": skip,
                "__includeDeleted": "true",
            }
            answer = self.client.request("GET", "/tables/todoitem", params=query)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            for row in page:
                if row["deleted"]:
                    self.rows.pop(row["id"], None)
                else:
                    self.rows[row["id"]] = row["text"]
            latest = max([self.token, *(row["updatedAt"] for row in page)])
            if latest > self.token:
                self.token, skip = latest, 0
            elif page:
                skip += len(page)
            if len(page) < 50:
                return


def texts_at(backend, flavour):
    """The text of every item at the backend, from a request of the backend's generation."""
    rows = {}
    while True:
        answer = requests.get(
            f"{backend.url}/tables/todoitem",
            params={"$orderby": "id", "$top": 50, "$skip": len(rows)},
            headers={} if flavour == "1" else {"ZUMO-API-VERSION": f"{flavour[0]}.0.0"},
            timeout=10,
        )
        assert answer.status_code == 200, answer.text
        page = answer.json()
        page = page["items"] if isinstance(page, dict) else page
        rows |= {row["id"]: row["text"] for row in page}
        if not page:
            return rows


def play(proxy, backend, plan):
    """Kills proxy and backend at random for some time, and requests syncs."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(plan.random() * 0.8)
        chance = plan.random()
        if chance < 0.5:
            proxy.program.kill()
            proxy.start()
        elif chance < 0.7:
            backend.program.kill()
            time.sleep(plan.random() * 0.5)
            backend.start()
        else:
            proxy.operator("POST", "/sync?wait=0", expect=None, json={})


@pytest.fixture
def torn_wire():
    """Puts a breaking connection in front of a server; removes it at the end."""
    wires = []

    def lay(port, seed):
        wires.append(TornWire(port, seed))
        return wires[-1]

    yield lay
    for wire in wires:
        wire.close()


@pytest.mark.parametrize("flavour", ["1", "2-node", "3"])
def test_kills_and_broken_connections_lose_and_repeat_no_write(
    start, torn_wire, flavour
):
    print(f"LIFE_SEED={SEED} LIFE_SECONDS={SECONDS}")
    plan = random.Random(f"{SEED} {flavour}")
    backend = start.backend("--flavour", flavour)
    wire = torn_wire(backend.port, plan.random())
    proxy = start.proxy(
        wire.url, "--backend-generation", flavour[0], "--parallelism", str(plan.choice([1, 4, 16]))
    )
    people = [Person(number, proxy.url) for number in range(3)]
    reader = SyncingClient(proxy.url)
    for one in [*people, reader]:
        one.start()
    try:
        play(proxy, backend, plan)
    finally:
        stop([*people, reader])
        wire.mend()
    assert [one.name for one in [*people, reader] if one.is_alive()] == []
    assert [complaint for person in people for complaint in person.complaints] == []
    assert all(person.versions for person in people), "everybody was promised something"

    def is_sent():
        proxy.sync()
        queue = proxy.status()["queue"]
        return not any(queue[state] for state in ("queued", "sending", "waiting", "unknown"))

    wait_until(is_sent, 60, "an empty queue")
    proxy.sync()
    queue = proxy.status()["queue"]
    assert (queue["conflict"], queue["quarantined"]) == (0, 0), proxy.operator("GET", "/operations")
    assert proxy.status()["ledger"]["balances"]

    rows = {row["id"]: row["text"] for row in proxy.all()}
    assert texts_at(backend, flavour) == rows
    reader.sync()
    assert reader.rows == rows

    known = set()
    for person in people:
        known |= set(person.pasts)
        for id in person.pasts:
            assert rows.get(id) in person.possible(id), (id, rows.get(id), person.pasts[id][-4:])
    others = [text for id, text in rows.items() if id not in known]
    assert len(others) == len(set(others)), "an insert whose answer was lost took effect twice"
    assert set(others) <= set().union(*(person.lost_inserts for person in people))
