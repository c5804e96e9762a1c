"""Clients that write the same rows through many proxies, and the journal of what they asked for and what was
acknowledged. No two writes have a text in common, so each text tells who wrote it."""

import dataclasses
import json
import math
import threading
import time

from clients import BusyClient

FIELDS = ("text", "note", "place")


@dataclasses.dataclass
class Write:
    """A write as its client knows it. The outcome is in doubt while no answer has come."""

    proxy: int
    row: str | None
    kind: str
    fields: dict
    began: float
    ended: float = math.inf
    outcome: str = "doubt"

    @property
    def is_acknowledged(self):
        return self.outcome == "acknowledged"

    def end(self, outcome):
        self.ended, self.outcome = time.time(), outcome


class Journal:
    """All writes of all clients, each noted before it is sent."""

    def __init__(self):
        self._lock = threading.Lock()
        self.writes = []
        self.by_text = {}
        self.shared = []

    def begin(self, proxy, row, kind, fields=()):
        write = Write(proxy, row, kind, dict(fields), time.time())
        with self._lock:
            self.writes.append(write)
            for text in write.fields.values():
                assert text not in self.by_text, text
                self.by_text[text] = write
        return write

    def misfit(self, row):
        """What a row has that nobody wrote there; None for a row that is as it may be."""
        for field in FIELDS:
            if (text := row.get(field)) is None:
                continue
            write = self.by_text.get(text)
            if write is None or write.fields.get(field) != text or write.row not in (None, row["id"]):
                return f"{field} of {row['id']} is {text!r}, by {write}"
        return None


class Client(BusyClient):
    """Writes and reads rows at one proxy that others write too."""

    def __init__(self, name, seed, number, url, journal, pause_seconds=0):
        super().__init__(name, url, seed, pause_seconds)
        self.proxy = number
        self.journal = journal
        self.rows = {}
        self.gone = set()

    def step(self):
        self.count += 1
        steps = {self.insert: 15, self.update: 25, self.patch: 25, self.delete: 8, self.undelete: 10,
                 self.list: 7, self.look: 10}
        (step,) = self.random.choices(list(steps), list(steps.values()))
        step()

    def some_row(self):
        """A row that other clients write too, or any that was seen here."""
        others = sorted(set(self.rows) - self.gone)
        if others and self.random.random() < 0.3:
            return self.random.choice(others)
        return self.random.choice(self.journal.shared)

    def texts(self, fields):
        return {field: f"{self.name} {self.count} {field}" for field in fields}

    def insert(self):
        item = self.texts(FIELDS[: self.random.randint(1, len(FIELDS))])
        id = f"{self.random.getrandbits(64):016x}" if self.random.random() < 0.6 else None
        write = self.journal.begin(self.proxy, id, "insert", item)
        answer = self.send("POST", "", json={**item, **({"id": id} if id else {})})
        if self.is_taken(write, answer, 201):
            write.row = answer.json()["id"]
            self.keep(answer.json())

    def update(self):
        self.change(FIELDS)

    def patch(self):
        self.change(self.random.sample(FIELDS, self.random.randint(1, 2)))

    def change(self, fields):
        id, match = self.some_row(), {}
        if self.random.random() < 0.5:
            if not self.look(id):
                return
            match = {"If-Match": f'"{self.rows[id]["version"]}"'}
        changes = self.texts(fields)
        write = self.journal.begin(self.proxy, id, "update", changes)
        answer = self.send("PATCH", f"/{id}", json={"id": id, **changes}, headers=match)
        if self.is_taken(write, answer, 200, refusals=(404, 410, 412) if match else (404, 410), id=id):
            row = answer.json()
            self.complain_unless(all(row[field] == text for field, text in changes.items()), write, answer)
            self.keep(row)

    def delete(self):
        id, match = self.some_row(), {}
        if id in self.rows and self.random.random() < 0.5:
            match = {"If-Match": f'"{self.rows[id]["version"]}"'}
        write = self.journal.begin(self.proxy, id, "delete")
        answer = self.send("DELETE", f"/{id}", headers=match)
        if self.is_taken(write, answer, 204, 200, refusals=(404, 410, 412), id=id):
            self.gone.add(id)

    def undelete(self):
        if not self.gone:
            return
        id = self.random.choice(sorted(self.gone))
        write = self.journal.begin(self.proxy, id, "undelete")
        answer = self.send("POST", f"/{id}")
        if self.is_taken(write, answer, 200, 201, refusals=(404, 409, 410), id=None):
            self.gone.discard(id)

    def look(self, id=None):
        """Reads a row; whether it is there."""
        id = id or self.some_row()
        answer = self.send("GET", f"/{id}")
        if answer is None or answer.status_code == 503:
            return False
        if answer.status_code in (404, 410):
            self.gone.add(id)
            return False
        self.complain_unless(answer.status_code == 200, f"read {id}", answer)
        self.keep(answer.json())
        return True

    def list(self):
        query = {"$orderby": "updatedAt desc", "$top": 20}
        answer = self.send("GET", "", params=query)
        if answer is None or answer.status_code == 503:
            return
        self.complain_unless(answer.status_code == 200, "list", answer)
        for row in answer.json():
            self.keep(row)

    def keep(self, row):
        problem = self.journal.misfit(row)
        if problem:
            self.complaints.append(f"{self.name}: {problem}")
        self.rows[row["id"]] = row
        self.gone.discard(row["id"])

    def is_taken(self, write, answer, *successes, refusals=(), id=None):
        """Notes the outcome of a write; whether it was acknowledged."""
        if answer is None or answer.status_code == 503:
            return False
        if answer.status_code in successes:
            write.end("acknowledged")
            return True
        self.complain_unless(answer.status_code in refusals, write, answer)
        write.end("refused")
        if id and answer.status_code in (404, 410):
            self.gone.add(id)
        return False

    def complain_unless(self, holds, what, answer):
        if not holds:
            self.complaints.append(f"{self.name}: {what}: {answer.status_code} {answer.text[:400]}")


def columns_of(row):
    """What users see of a row, from a server's answer or from the database."""
    row = json.loads(row) if isinstance(row, str) else row
    return {field: row[field] for field in FIELDS if row.get(field) is not None}
