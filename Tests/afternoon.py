"""An afternoon of a small team: two users whose apps work as the SDKs do, and what each of them saw.

The steps come from a seed alone, so the same afternoon can be played directly against a server and through Understudy.
"""

import dataclasses
import random

import requests
from programs import ZUMO

USERS = ("ana", "ben")
# What a store makes itself.
OWN = ("createdAt", "updatedAt", "version")
BEGINNING = "1970-01-01T00:00:00.000Z"
PLACES = ("kitchen", "garden", "cellar", "office")


@dataclasses.dataclass(frozen=True)
class Step:
    number: int
    user: str
    kind: str
    id: str = ""
    columns: tuple = ()
    table: str = "todoitem"

    def __str__(self):
        return f"{self.number} {self.user} {self.kind} {self.id} {dict(self.columns)}"


@dataclasses.dataclass(frozen=True)
class Seen:
    """What the user saw: the status of each answer, and what the app shows in the end."""

    statuses: tuple
    shown: object


def shown(value):
    """A row or a list of rows without what a store makes itself; a text as it came."""
    if isinstance(value, list):
        return [shown(one) for one in value]
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if name not in OWN}
    return value


def body(answer):
    try:
        return answer.json()
    except requests.JSONDecodeError:
        return answer.text


class Phone:
    """A user's app: a copy of the tables, and the SDK's requests. The versions in the copy are conditions of its
    writes, and its conflict handler lays its change over the server's row and sends it again."""

    def __init__(self, url, user):
        self.url, self.user = url, user
        self.copies = {"todoitem": {}, "notes": {}}
        self.since = dict.fromkeys(self.copies, BEGINNING)
        self.session = requests.Session()
        self.session.headers.update(ZUMO)
        self.session.trust_env = False
        self.statuses = []
        self.sign_in()

    def sign_in(self):
        self.session.headers.pop("X-ZUMO-AUTH", None)
        answer = self.session.post(
            self.url + "/.auth/login/facebook", json={"access_token": self.user}, timeout=30)
        assert answer.status_code == 200, answer.text
        self.session.headers["X-ZUMO-AUTH"] = answer.json()["authenticationToken"]

    def request(self, method, path, version=None, **options):
        """Sends a request; at the end of the login it shows the login prompt, and sends it again."""
        headers = {"If-Match": f'"{version}"'} if version else {}
        for _ in range(2):
            answer = self.session.request(method, self.url + path, headers=headers, timeout=40, **options)
            self.statuses.append(answer.status_code)
            if answer.status_code != 401:
                break
            self.sign_in()
        return answer

    def play(self, step):
        self.statuses = []
        result = getattr(self, step.kind)(step)
        return Seen(tuple(self.statuses), shown(result))

    def take(self, step, answer):
        """Puts the row of an answer into the copy."""
        row = body(answer)
        if answer.status_code in (200, 201, 412) and isinstance(row, dict) and "id" in row:
            copy = self.copies[step.table]
            if row["deleted"]:
                copy.pop(row["id"], None)
            else:
                copy[row["id"]] = row
        return row

    def insert(self, step):
        answer = self.request(
            "POST", f"/tables/{step.table}", json={"id": step.id, **dict(step.columns)})
        return self.take(step, answer)

    def update(self, step):
        """The app has what it changes: it pulls an item that it does not have."""
        if step.id not in self.copies[step.table]:
            self.pull(step)
        known = self.copies[step.table].get(step.id)
        if known is None:
            return "not there"
        path, changes = f"/tables/{step.table}/{step.id}", dict(step.columns)
        answer = self.request("PATCH", path, known["version"], json=changes)
        row = self.take(step, answer)
        if answer.status_code == 412 and not row["deleted"]:
            return self.take(step, self.request("PATCH", path, row["version"], json=changes))
        if answer.status_code == 404:
            self.copies[step.table].pop(step.id)
        return row

    def delete(self, step):
        known = self.copies[step.table].get(step.id)
        if known is None:
            return "not there"
        answer = self.request("DELETE", f"/tables/{step.table}/{step.id}", known["version"])
        row = self.take(step, answer)
        if answer.status_code == 412 and not row["deleted"]:
            # The user looks at the row as it is now, and deletes it.
            answer = self.request("DELETE", f"/tables/{step.table}/{step.id}", row["version"])
            row = self.take(step, answer)
        self.copies[step.table].pop(step.id, None)
        return row

    def undelete(self, step):
        return self.take(step, self.request("POST", f"/tables/{step.table}/{step.id}"))

    def pull(self, step):
        """An incremental pull, until a page is empty. What counts is the copy that it leaves."""
        table, skip, count = step.table, 0, len(self.statuses)
        while True:
            since = self.since[table]
            answer = self.request("GET", f"/tables/{table}", params={
                "$filter": f"(updatedAt ge datetimeoffset'{since}')", "$orderby": "updatedAt", "$skip": skip,
                "$top": 50, "__includeDeleted": "true"})
            if answer.status_code != 200:
                return body(answer)
            rows = answer.json()
            for row in rows:
                if row["deleted"]:
                    self.copies[table].pop(row["id"], None)
                else:
                    self.copies[table][row["id"]] = row
            if not rows:
                break
            skip = skip + len(rows) if rows[-1]["updatedAt"] == since else 0
            self.since[table] = rows[-1]["updatedAt"]
        # How many pages there are is not the user's concern.
        self.statuses[count:] = sorted(set(self.statuses[count:]))
        return sorted(self.copies[table].values(), key=lambda row: row["id"])

    def refresh(self, step):
        """A pull to refresh: the same list again, of which the user sees the second."""
        self.request("GET", f"/tables/{step.table}?$filter=(complete eq false)")
        return body(self.request("GET", f"/tables/{step.table}?$filter=(complete eq false)"))

    def look_up(self, step):
        self.pull(step)
        return body(self.request("GET", f"/tables/{step.table}/{step.id}"))

    def too_many(self, step):
        return body(self.request("GET", f"/tables/{step.table}?$top=1001"))

    def complete_all(self, step):
        """The custom API, and the list that the app shows after it."""
        answer = self.request("POST", "/api/completeall")
        return body(answer), self.refresh(step)


def steps(seed, count):
    """The steps of an afternoon. An end of the login is followed by a write of that user: reads are answered from the
    store until a request has shown it."""
    choice, made = random.Random(seed), []
    weights = {"insert": 9, "update": 12, "delete": 3, "pull": 6, "refresh": 4, "look_up": 2, "complete_all": 2,
               "undelete": 2, "too_many": 1, "refused": 3, "both": 4, "end_sign_in": 2, "note": 4}
    number, deleted = 0, []

    def step(kind, user, id="", table="todoitem", **columns):
        nonlocal number
        number += 1
        return Step(number, user, kind, id, tuple(columns.items()), table)

    def change():
        """Always to a new value: an update that changes nothing is not sent through Understudy."""
        word, place = f"text {number}", f"{choice.choice(PLACES)} {number}"
        return choice.choice([
            {"text": word}, {"place": place}, {"text": word + " slow"}, {"text": word, "complete": False},
            {"place": place, "complete": True}, {"secret": word}])

    def new(user):
        made.append(f"i{len(made):03}")
        columns = {"text": f"text {number}", "place": f"{choice.choice(PLACES)} {number}", "complete": False}
        return step("insert", user, made[-1], **columns | choice.choice([{}, {"secret": "s"}]))

    for user in USERS:
        yield step("pull", user)
    yield new(USERS[0])
    while number < count:
        user = choice.choice(USERS)
        other = USERS[1 - USERS.index(user)]
        kind = choice.choices(list(weights), weights.values())[0]
        id = choice.choice(made)
        if kind == "insert":
            yield new(user)
        elif kind == "update":
            yield step("update", user, id, **change())
        elif kind == "refused":
            word = choice.choice(["forbidden", "invalid"])
            yield step("insert", user, f"r{number:03}", text=word) if choice.random() < 0.5 else step(
                "update", user, id, text=word)
        elif kind == "both":
            # Both have the row; one changes it, and the other does not know it yet.
            yield step("pull", user)
            yield step("pull", other)
            yield step("update", user, id, **change())
            yield step("update", other, id, **change())
        elif kind == "delete":
            deleted.append(id)
            yield step("delete", user, id)
        elif kind == "undelete" and deleted:
            yield step("undelete", user, choice.choice(deleted))
        elif kind == "end_sign_in":
            yield step("pull", user)
            yield step("end_sign_in", user)
            yield new(user) if choice.random() < 0.5 or id in deleted else step("update", user, id, **change())
        elif kind == "note":
            made_note = f"n{number:03}"
            yield step("insert", user, made_note, "notes", body=f"note {number}")
            yield step("update", user, made_note, "notes", body=f"note {number} again")
            if choice.random() < 0.6:
                yield step("delete", user, made_note, "notes")
        elif kind != "undelete":
            yield step(kind, user, id)
    for user in USERS:
        yield step("pull", user)
        yield step("pull", user, table="notes")


def play(server, url, seed, count):
    """Plays the afternoon at an address of the server.
    - Returns: each step with what its user saw."""
    phones = {user: Phone(url, user) for user in USERS}
    story = []
    for step in steps(seed, count):
        if step.kind == "end_sign_in":
            server.end_sign_ins(step.user)
        else:
            story.append((step, phones[step.user].play(step)))
    return story
