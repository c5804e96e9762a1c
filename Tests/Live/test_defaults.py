"""What a client notices of Understudy without a setting while the backend answers: nothing."""

import json
import time
import urllib.parse

import pytest
import requests
from by_hand import Browser
from hostile import HTTPBackend
from programs import ZUMO, Tables, wait_until

EPOCH = "1970-01-01T00:00:00.000Z"


def serve(start, *arguments, rows=("a",)):
    backend = start.backend("--faults")
    for id in rows:
        backend.insert({"id": id, "text": "one"})
    proxy = start.stand_in(backend.url, *arguments)
    assert proxy.operator("POST", "/tables/todoitem/pull?wait=30", json={})["state"] == "complete"
    return backend, proxy


def policies(proxy):
    (table,) = proxy.operator("GET", "/tables")["items"]
    shown = json.loads(proxy.command("status", "--json").stdout)["tables"][0]
    assert (shown["readPolicy"], shown["writePolicy"]) == (table["readPolicy"], table["writePolicy"])
    return table["readPolicy"], table["writePolicy"]


# Of a pull that finds nothing new, while the last row is young: one for the rows since, which has that row again, and
# one for the empty page behind it.
PULL_REQUESTS = 2


class Phone(Tables):
    """A client that syncs by `updatedAt`, as the SDKs of Mobile Apps do."""

    def __init__(self, url):
        super().__init__(url)
        self.token, self.rows = EPOCH, {}

    def sync(self, table="todoitem"):
        skip = 0
        while True:
            query = urllib.parse.urlencode({
                "$filter": f"(updatedAt ge datetimeoffset'{self.token}')", "$orderby": "updatedAt", "$skip": skip,
                "$top": 50, "__includeDeleted": "true"})
            answer = self.request("GET", f"/tables/{table}?{query}")
            assert answer.status_code == 200, answer.text
            page = answer.json()
            if not page:
                return {id: row["text"] for id, row in self.rows.items() if not row["deleted"]}
            self.rows |= {row["id"]: row for row in page}
            last = page[-1]["updatedAt"]
            self.token, skip = (last, 0) if last != self.token else (self.token, skip + len(page))


@pytest.mark.parametrize("arguments, expected", [
    ((), ("revalidate", "write-through")),
    (("--sync", "manual"), ("local", "local")),
    (("--policy", "*=local", "--policy", "todoitem=write-through+merge"), ("local", "write-through")),
])
def test_the_standard_follows_the_mode(start, arguments, expected):
    backend, proxy = serve(start, *arguments)
    assert policies(proxy) == expected
    made = proxy.request("POST", "/tables/todoitem", json={"id": "b", "text": "mine"})
    state = "synced" if expected[1] == "write-through" else "pending"
    assert (made.status_code, made.headers["Understudy-State"]) == (201, state)
    # Also in a table of which nothing is known yet.
    if "todoitem=write-through+merge" not in arguments:
        made = proxy.request("POST", "/tables/notes", json={"id": "n", "text": "mine"})
        assert made.status_code == 201
        assert made.headers["Understudy-State"] == (state if expected[1] == "local" else "synced")


def test_a_write_of_the_dashboard_waits_for_nothing_and_is_sent_after_a_moment(start):
    backend, proxy = serve(start)
    backend.faults({"kind": "latency", "milliseconds": 1500, "methods": ["PATCH"]})
    page = Browser(proxy, "Browser/1.0")
    began = time.monotonic()
    answer = page.session.patch(
        proxy.url + "/tables/todoitem/a", json={"text": "mine"}, headers={**page.headers, **ZUMO}, timeout=10)
    assert (answer.status_code, answer.headers["Understudy-State"]) == (200, "pending")
    assert time.monotonic() - began < 1
    wait_until(lambda: backend.get("a").json()["text"] == "mine", 10, "the change at the backend")


def test_a_sync_without_changes_costs_a_pull(start):
    backend, proxy = serve(start)
    phone = Phone(proxy.url)
    phone.sync()
    before = proxy.asked()
    for _ in range(5):
        phone.sync()
    assert proxy.asked() - before == 5 * PULL_REQUESTS


def test_a_slow_backend_holds_a_pull_for_two_seconds(start):
    backend, proxy = serve(start)
    phone = Phone(proxy.url)
    phone.sync()
    backend.faults({"kind": "latency", "milliseconds": 8000, "methods": ["GET"]})
    began = time.monotonic()
    answer = proxy.request("GET", "/tables/todoitem?__includeDeleted=true")
    assert (answer.status_code, len(answer.json())) == (200, 1)
    assert 1.5 < time.monotonic() - began < 4
    began = time.monotonic()
    assert proxy.get("a").status_code == 200
    assert time.monotonic() - began < 1


def test_without_the_backend_everything_is_answered_at_once(start):
    backend, proxy = serve(start)
    backend.stop()
    proxy.sync()
    phone = Phone(proxy.url)
    began = time.monotonic()
    assert phone.sync() == {"a": "one"}
    assert proxy.list() == proxy.list()
    made = proxy.request("POST", "/tables/todoitem", json={"id": "b", "text": "mine"})
    assert (made.status_code, made.headers["Understudy-State"]) == (201, "pending")
    assert time.monotonic() - began < 1.5


class CompleteAll:
    """A backend with the custom API of the tutorial: it marks every open row as complete."""

    def __init__(self, backend):
        self.backend, self.requests, self.delay, self.status = backend, [], 0, 200
        self.server = HTTPBackend(self.behave)
        self.url = self.server.url

    def behave(self, handler, body):
        self.requests.append(f"{handler.command} {handler.path.split('?')[0]}")
        if handler.path.startswith("/api/"):
            time.sleep(self.delay)
            done = [row["id"] for row in self.backend.list() if not row["complete"]]
            for id in done:
                self.backend.update(id, {"complete": True})
            self.body = body
            return handler.answer(self.status, json.dumps({"count": len(done)}).encode(), {})
        sent = ("ZUMO-API-VERSION", "Content-Type", "If-Match")
        answer = requests.request(
            handler.command, self.backend.url + handler.path, data=body, timeout=20,
            headers={name: handler.headers[name] for name in sent if name in handler.headers})
        kept = ("Content-Type", "ETag", "Link")
        fields = {name: answer.headers[name] for name in kept if name in answer.headers}
        handler.answer(answer.status_code, answer.content, fields)


@pytest.fixture
def api(start):
    backend = start.backend()
    for number in range(3):
        backend.insert({"id": f"r{number}", "complete": False})
    api = CompleteAll(backend)
    yield api
    api.server.shutdown()


def is_copied(proxy):
    return [table["isComplete"] for table in proxy.operator("GET", "/tables")["items"]] == [True]


def still_open(client):
    return [row["id"] for row in client.list(_filter="complete eq false")]


@pytest.mark.parametrize("standard", [(), ("--policy", "*=local")])
def test_a_custom_api_sees_what_was_written_and_its_client_what_it_changed(start, api, standard):
    proxy = start.stand_in(api.url, *standard)
    assert len(still_open(proxy)) == 3
    wait_until(lambda: is_copied(proxy), 10, "the copy")
    for number in range(3):
        proxy.insert({"id": f"new{number}", "complete": False})
        answer = proxy.request("POST", "/api/completeall", json={})
        assert answer.json()["count"] == (4 if number == 0 else 1)
        assert proxy.get(f"new{number}").json()["complete"] is True
        assert still_open(proxy) == []
    # Reads that do not follow a call of an API wait for nothing.
    assert proxy.status()["queue"]["queued"] == 0


def test_a_body_that_is_streamed_waits_with_its_request(start, api):
    proxy = start.stand_in(api.url, "--policy", "*=local")
    still_open(proxy)
    proxy.insert({"id": "new", "complete": False})
    sent = b"x" * 3_000_000

    def pieces():
        for place in range(0, len(sent), 100_000):
            yield sent[place : place + 100_000]

    answer = requests.post(proxy.url + "/api/completeall", data=pieces(), timeout=30)
    assert (answer.status_code, answer.json()["count"]) == (200, 4)


def test_an_api_that_failed_may_have_changed_rows(start, api):
    proxy = start.stand_in(api.url)
    still_open(proxy)
    wait_until(lambda: is_copied(proxy), 10, "the copy")
    api.status = 500
    assert proxy.request("POST", "/api/completeall", json={}).status_code == 500
    wait_until(lambda: not open_rows(proxy), 7, "the rows that the API changed")


def open_rows(proxy):
    """The open rows of the store, without a client's read, which would pull them."""
    items = proxy.operator("GET", "/tables/todoitem/items")["items"]
    return [row["item"]["id"] for row in items if not row["item"]["complete"]]


def test_what_cannot_be_sent_holds_a_custom_api_for_five_seconds(start, api):
    proxy = start.stand_in(api.url, "--policy", "*=local")
    still_open(proxy)
    wait_until(lambda: is_copied(proxy), 10, "the copy")
    normal = api.behave

    def slow(handler, body):
        if handler.command == "POST" and handler.path.startswith("/tables"):
            time.sleep(9)
        normal(handler, body)

    api.server.behaviour = slow
    proxy.insert({"id": "new", "complete": False})
    began = time.monotonic()
    assert proxy.request("POST", "/api/completeall", json={}).status_code == 200
    assert 4 < time.monotonic() - began < 8
    assert "before all earlier changes of its client were sent" in proxy.program.output


def test_it_can_be_switched_off(start, api):
    proxy = start.stand_in(api.url, "--policy", "*=local", "--api-sync", "off")
    still_open(proxy)
    wait_until(lambda: is_copied(proxy), 10, "the copy")
    assert proxy.request("POST", "/api/completeall", json={}).json()["count"] == 3
    assert len(still_open(proxy)) == 3


def test_without_the_backend_a_custom_api_is_refused_at_once(start, api):
    proxy = start.stand_in(api.url)
    still_open(proxy)
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    proxy.insert({"id": "new", "complete": False})
    answer = proxy.request("POST", "/api/completeall", json={})
    assert answer.status_code == 503 and answer.headers["Retry-After"]
