"""Tables with integer ids, as the store-and-forward libraries of Mobile Services use them.

Such a library shows local rows at once and fetches the backend's rows afterwards (the policy
`revalidate`). It writes locally and to the backend in parallel and takes the backend's answer
(`write-through`). After a time without a network it sends the remaining writes one by one.
"""

import pytest
import requests
from programs import wait_until

IOS = {
    "X-ZUMO-APPLICATION": "key",
    "X-ZUMO-INSTALLATION-ID": "7D4A9B1C-0000-4000-8000-000000000000",
    "X-ZUMO-VERSION": "ZUMO/1.3 (lang=objective-c; os=iOS; os_version=8.1; arch=iPhone; version=1.3.2)",
    "User-Agent": "ZUMO/1.3 (lang=objective-c; os=iOS; os_version=8.1; arch=iPhone; version=1.3.2)",
}


def is_provisional(id):
    return 2_000_000_000 < id < 2**31


class Client:
    """MSTable of the first iOS SDK on a table with integer ids: no system properties are asked for."""

    def __init__(self, url, table="example"):
        self.path = f"{url}/tables/{table}"
        self.session = requests.Session()
        self.session.headers.update(IOS)

    def ask(self, method, path="", item=None):
        # Content-Type only with a body, as this SDK sends it.
        answer = self.session.request(method, self.path + path, json=item, timeout=15)
        if answer.content:
            assert int(answer.headers["Content-Length"]) == len(answer.content)
        return answer

    def rows(self, query=""):
        answer = self.ask("GET", query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def insert(self, **item):
        answer = self.ask("POST", item=item)
        assert answer.status_code == 201, answer.text
        row = answer.json()
        # A number in JSON, and no system property, since none was asked for.
        assert type(row["id"]) is int and not [name for name in row if name.startswith("__")]
        return row

    def update(self, id, **item):
        answer = self.ask("PATCH", f"/{id}", {"id": id, **item})
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def world(start):
    backend = start.backend("--generation", "1", "--integer-ids", "example", "--faults")

    def serve(policy="revalidate+write-through", *arguments):
        return start.proxy(backend.url, "--policy", f"example={policy}", *arguments)

    return backend, Client(backend.url), serve


def sync(proxy):
    run = proxy.sync()
    assert run["state"] == "complete", run


def test_integer_ids_over_an_offline_period(world):
    backend, elsewhere, serve = world
    theirs = elsewhere.insert(thing="theirs", wow=1)
    proxy = serve()
    client = Client(proxy.url)

    # Reading: local rows at once, the backend's afterwards.
    assert [row["thing"] for row in client.rows()] == ["theirs"]
    elsewhere.update(theirs["id"], thing="changed")
    client.rows("?$filter=wow%20eq%201")
    wait_until(lambda: client.rows()[0]["thing"] == "changed", 12, "the backend's row")

    # Writing: the backend's answer, its id included.
    mine = client.insert(thing="something", wow=90)
    assert mine["id"] > 0
    assert elsewhere.ask("GET", f"/{mine['id']}").json() == mine
    assert client.update(mine["id"], thing="other", wow=90) == {**mine, "thing": "other"}
    assert elsewhere.ask("GET", f"/{mine['id']}").json()["thing"] == "other"

    # The backend is away: everything is kept here, new rows under provisional ids.
    backend.stop()
    first, second = client.insert(thing="first"), client.insert(thing="second")
    assert is_provisional(first["id"]) and is_provisional(second["id"]) and first["id"] != second["id"]
    client.update(first["id"], thing="first, changed")
    client.update(mine["id"], thing="offline")
    assert client.ask("DELETE", f"/{theirs['id']}").status_code == 204
    assert sorted(row["thing"] for row in client.rows()) == ["first, changed", "offline", "second"]

    # The backend is back: each write is sent once, the ids move, and the old ones keep answering.
    backend.start()
    wait_until(lambda: not sum(proxy.status()["queue"].values()), 30, "an empty queue")
    rows = {row["thing"]: row["id"] for row in elsewhere.rows()}
    assert sorted(rows) == ["first, changed", "offline", "second"]
    assert not any(map(is_provisional, rows.values()))
    assert {row["thing"]: row["id"] for row in client.rows()} == rows
    alias = client.ask("GET", f"/{first['id']}").json()
    assert (alias["id"], alias["thing"]) == (rows["first, changed"], "first, changed")
    assert client.update(first["id"], thing="by the old id")["id"] == rows["first, changed"]
    assert client.ask("DELETE", f"/{second['id']}").status_code == 204
    assert sorted(row["thing"] for row in elsewhere.rows()) == ["by the old id", "offline"]


def test_an_id_chosen_by_the_client_is_refused(world):
    _, _, serve = world
    proxy = serve("local", "--sync", "manual")
    client = Client(proxy.url)
    sync(proxy)
    refused = client.ask("POST", item={"id": 7, "thing": "x"})
    assert refused.status_code == 400
    assert refused.json() == {
        "code": 400,
        "error": "Error: A value cannot be specified for property 'id'.",
    }
    assert client.rows() == []
    # "No id", as the SDKs say it.
    for id in (0, None, -3):
        assert is_provisional(client.ask("POST", item={"id": id, "thing": "x"}).json()["id"])


# Backends that give the id of a deleted row again, as SQLite does without AUTOINCREMENT.
REUSING = [
    ("1", "--table", "ints:integer+reused-ids+hard"),
    ("2", "--table", "ints:integer+reused-ids+hard"),
    ("2-node", "--table", "ints:integer+reused-ids+hard"),
    ("express", "--table", "ints:integer+reused-ids+hard", "--table", "todoitem"),
]
KNOWN = {"createdAt", "updatedAt", "version"}


class Ints:
    """A client of the table `ints` in the form of the backend's generation."""

    def __init__(self, server, generation):
        self.server = server
        self.headers = {"X-ZUMO-APPLICATION": "key"} if generation == "1" else {"ZUMO-API-VERSION": "2.0.0"}

    def ask(self, method, id="", item=None):
        path = f"{self.server.url}/tables/ints" + (f"/{id}" if id else "")
        return requests.request(method, path, json=item, headers=self.headers, timeout=15)

    def post(self, text):
        answer = self.ask("POST", item={"text": text})
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def rows(self):
        answer = self.ask("GET")
        assert answer.status_code == 200, answer.text
        return sorted(
            ({k: v for k, v in row.items() if k not in KNOWN} for row in answer.json()), key=lambda row: row["id"])


@pytest.fixture(params=REUSING, ids=[arguments[0] for arguments in REUSING])
def reusing(start, request):
    flavour, *tables = request.param
    option = "--flavour" if flavour == "express" else "--generation"
    backend = start.backend(option, flavour, *tables, "--faults")

    def serve(*arguments, folder="proxy"):
        proxy = start.proxy(
            backend.url, "--policy", "ints=local+integer-ids", "--table", "ints", *arguments, folder=folder)
        return proxy, Ints(proxy, flavour)

    return backend, Ints(backend, flavour), serve


def inserts(backend):
    effects = backend.request("GET", "/-/effects").json()
    effects = effects if isinstance(effects, list) else effects["effects"]
    return sum(effect["kind"] == "insert" for effect in effects)


def settled(proxy):
    """Syncs until nothing waits."""

    def is_done():
        return proxy.sync()["state"] == "complete" and not sum(proxy.status()["queue"].values())

    wait_until(is_done, 60, "an empty queue")


def test_a_killed_proxy_and_a_lost_answer_with_an_id_that_is_given_again(reusing):
    backend, there, serve = reusing
    proxy, here = serve("--sync", "manual")
    settled(proxy)
    old = here.post("a")
    settled(proxy)
    assert here.ask("DELETE", old).status_code in (200, 204)
    new = here.post("b")
    proxy.program.kill()
    proxy.start()
    backend.faults({"kind": "drop", "applies": True, "methods": ["POST"], "count": 1})
    proxy.sync()
    proxy.program.kill()
    proxy.start()
    settled(proxy)
    assert here.rows() == there.rows() and [row["text"] for row in there.rows()] == ["b"]
    assert inserts(backend) == 2
    assert here.ask("GET", new).json()["id"] == there.rows()[0]["id"]
    assert here.ask("GET", old).status_code in (404, 410)


@pytest.mark.parametrize("reusing", REUSING[1:2], indirect=True, ids=["2"])
def test_an_insert_waits_for_the_backends_answer(reusing):
    backend, there, serve = reusing
    proxy, here = serve()
    settled(proxy)
    answer = here.ask("POST", item={"text": "a"})
    assert answer.status_code == 201 and answer.json()["id"] == 1
    assert answer.headers["Understudy-State"] == "synced"
    assert answer.headers["Location"].endswith("/tables/ints/1")
    # Other writes do not wait.
    assert here.ask("PATCH", 1, {"id": 1, "text": "b"}).headers["Understudy-State"] == "pending"
    # A slow backend: the client gets a provisional id after some seconds.
    backend.faults({"kind": "latency", "milliseconds": 8000, "methods": ["POST"], "count": 1})
    answer = here.ask("POST", item={"text": "slow"})
    assert answer.status_code == 201 and is_provisional(answer.json()["id"])
    settled(proxy)
    assert here.ask("GET", answer.json()["id"]).json()["id"] == 2
    assert here.rows() == there.rows() and len(there.rows()) == 2
