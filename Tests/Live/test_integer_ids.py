"""Tables with integer ids, as the store-and-forward libraries of Mobile Services use them.

Such a library shows local rows at once and fetches the backend's rows afterwards (the policy
`revalidate`). It writes locally and to the backend in parallel and takes the backend's answer
(`write-through`). After a time without a network it sends the remaining writes one by one.
"""

import pytest
import requests
from programs import free_port, wait_until

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


def test_a_refused_change_does_not_block_the_others(world):
    backend, elsewhere, serve = world
    proxy = serve("local", "--sync", "manual")
    client = Client(proxy.url)
    sync(proxy)
    good, bad = client.insert(thing="good"), client.insert(thing="bad", nested={"a": 1})
    run = proxy.sync()
    assert run["state"] == "completeWithErrors" and run["push"]["quarantined"] == 1, run
    assert [row["thing"] for row in elsewhere.rows()] == ["good"]
    left = client.ask("GET", f"/{bad['id']}")
    assert (left.json()["thing"], left.headers["Understudy-State"]) == ("bad", "quarantined")
    # After the edit it is sent.
    client.update(bad["id"], nested=None)
    sync(proxy)
    assert sorted(row["thing"] for row in elsewhere.rows()) == ["bad", "good"]
    assert not is_provisional(client.ask("GET", f"/{good['id']}").json()["id"])


def test_a_lost_answer_does_not_make_a_second_row(world):
    backend, elsewhere, serve = world
    proxy = serve("local", "--sync", "manual")
    client = Client(proxy.url)
    sync(proxy)
    backend.faults({"kind": "drop", "applies": True, "methods": ["POST"], "count": 1})
    made = client.insert(thing="once")
    proxy.sync()

    def is_found():
        return proxy.sync()["state"] == "complete" and proxy.operator("GET", "/operations")["total"] == 0

    wait_until(is_found, 60, "the row found again")
    assert [row["thing"] for row in elsewhere.rows()] == ["once"]
    assert client.ask("GET", f"/{made['id']}").json()["id"] == elsewhere.rows()[0]["id"]


@pytest.mark.parametrize("policy", ["local", "revalidate", "remote-first"])
def test_each_read_policy(world, policy):
    backend, elsewhere, serve = world
    row = elsewhere.insert(thing="one")
    # A run that begins by itself could fetch the change before the read.
    proxy = serve(policy, *(["--sync", "manual"] if policy == "local" else []))
    client = Client(proxy.url)
    assert client.rows()[0]["thing"] == "one"
    # The backend itself answers until the table is pulled.
    sync(proxy)
    assert client.ask("GET").headers.get("Age")
    elsewhere.update(row["id"], thing="two")
    shown = client.ask("GET", f"/{row['id']}").json()["thing"]
    # The pull of this read may end before its answer, or that of the read before.
    assert shown in {"local": ["one"], "revalidate": ["one", "two"], "remote-first": ["two"]}[policy]
    if policy == "revalidate":
        wait_until(lambda: client.rows()[0]["thing"] == "two", 12, "the backend's row")
    backend.stop()
    assert len(client.rows()) == 1


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


@pytest.mark.parametrize("policy", ["local", "local+integer-ids"])
def test_a_first_insert_into_an_empty_table(world, policy):
    backend, elsewhere, serve = world
    proxy = serve(policy)
    client = Client(proxy.url)
    made = client.insert(thing="first")
    # The client gets the backend's id at once.
    assert not is_provisional(made["id"])
    assert [row["id"] for row in elsewhere.rows()] == [made["id"]]


def test_an_insert_before_the_kind_of_ids_is_known(world):
    """Where the backend is away from the beginning, ids are strings; the first contact corrects them."""
    backend, elsewhere, serve = world
    elsewhere.insert(thing="theirs")
    backend.stop()
    proxy = serve("local")
    client = Client(proxy.url)
    made = client.ask("POST", item={"thing": "early"}).json()
    assert type(made["id"]) is str
    backend.start()
    wait_until(
        lambda: [row["thing"] for row in elsewhere.rows()] == ["theirs", "early"], 40, "the row")
    wait_until(lambda: not any(proxy.status()["queue"].values()), 20, "an empty queue")
    moved = client.ask("GET", f"/{made['id']}").json()
    assert type(moved["id"]) is int and moved["id"] == elsewhere.rows()[1]["id"]
    assert [type(row["id"]) for row in client.rows()] == [int, int]


def test_a_table_that_was_never_pulled(world, start):
    backend, elsewhere, serve = world
    elsewhere.insert(thing="theirs")
    proxy = start.proxy(f"http://127.0.0.1:{free_port()}", folder="away")
    client = Client(proxy.url)
    unknown = client.ask("GET", "/7")
    assert unknown.status_code == 503 and int(unknown.headers["Retry-After"]) > 0
    listed = client.ask("GET")
    assert listed.status_code == 503 and int(listed.headers["Retry-After"]) > 0
    online = Client(serve("local").url)
    assert [row["thing"] for row in online.rows()] == ["theirs"]


def test_pages_of_the_backend_are_followed_and_hard_deletes_are_noticed(start):
    backend = start.backend(
        "--generation", "2-node", "--hard-delete", "plain", "--page-rows", "3", "--faults")
    for number in range(10):
        backend.insert({"id": f"n{number}", "text": str(number)}, "plain")
    assert len(backend.list("plain")) == 3
    proxy = start.proxy(backend.url, "--table", "plain", "--sync", "manual")
    sync(proxy)
    assert [row["id"] for row in proxy.list("plain", _orderby="id")] == [f"n{i}" for i in range(10)]
    # Deleted by the client: gone at the backend, a tombstone here.
    proxy.delete("n3", "plain")
    sync(proxy)
    assert backend.request("GET", "/tables/plain/n3?__includeDeleted=true").status_code == 404
    # Deleted by others: a pull does not show it, a reconciling pull does.
    backend.delete("n4", "plain")
    proxy.operator("POST", "/tables/plain/pull?wait=20", json={"reconcile": True})
    assert proxy.get("n4", "plain").status_code == 404
    marked = proxy.request("GET", "/tables/plain?__includeDeleted=true&$orderby=id").json()
    assert [row["id"] for row in marked if row["deleted"]] == ["n3", "n4"]


def test_an_old_id_ends_with_a_purge(world):
    """After it the backend may give the item's id to another row."""
    backend, elsewhere, serve = world
    elsewhere.insert(thing="theirs")
    proxy = serve("local", "--sync", "manual")
    client = Client(proxy.url)
    proxy.operator("POST", "/tables/example/pull?wait=20", json={})
    old = client.insert(thing="mine")["id"]
    assert is_provisional(old)
    sync(proxy)
    new = next(row["id"] for row in elsewhere.rows() if row["thing"] == "mine")
    assert client.ask("GET", f"/{old}").json()["id"] == new
    done = proxy.command("purge", "example", "--yes")
    assert done.returncode == 0, done.stderr
    assert client.ask("GET", f"/{old}").status_code == 404
    assert client.update(new, thing="edited")["id"] == new
    assert client.ask("DELETE", f"/{old}").status_code in (404, 410)
    sync(proxy)
    assert [row["thing"] for row in elsewhere.rows()] == ["theirs", "edited"]


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


@pytest.mark.parametrize("mode", ["auto", "manual"])
def test_an_id_that_is_given_again(reusing, mode):
    backend, there, serve = reusing
    proxy, here = serve("--sync", mode)
    settled(proxy)
    old = here.post("a")
    assert is_provisional(old) == (mode == "manual")
    settled(proxy)
    assert here.rows() == there.rows() and [row["id"] for row in there.rows()] == [1]
    assert here.ask("DELETE", old).status_code in (200, 204)
    settled(proxy)
    assert here.rows() == there.rows() == []
    new = here.post("b")
    settled(proxy)
    # The first POST and this one: none is sent twice.
    assert inserts(backend) == 2
    assert here.rows() == there.rows() and [row["id"] for row in there.rows()] == [1]
    assert here.ask("GET", new).json()["text"] == "b"
    if mode == "manual":
        assert here.ask("GET", old).status_code in (404, 410)
        assert here.ask("PATCH", old, {"id": old, "text": "c"}).status_code in (404, 410)
        assert here.ask("DELETE", old).status_code in (404, 410)
        settled(proxy)
    assert [row["text"] for row in there.rows()] == ["b"] and here.rows() == there.rows()
    assert proxy.status()["ledger"]["accepted"] == proxy.status()["ledger"]["applied"]


def test_offline_chains_over_an_id_that_is_given_again(reusing):
    backend, there, serve = reusing
    proxy, here = serve()
    settled(proxy)
    old = here.post("a")
    assert old == 1
    backend.stop()
    here.ask("PATCH", old, {"id": old, "text": "a2"})
    assert here.ask("DELETE", old).status_code in (200, 204)
    first, second, third = here.post("b"), here.post("c"), here.post("d")
    assert all(map(is_provisional, (first, second, third)))
    assert here.ask("PATCH", second, {"id": second, "text": "c2"}).status_code == 200
    assert here.ask("DELETE", third).status_code in (200, 204)
    backend.start()
    settled(proxy)
    assert here.rows() == there.rows()
    assert sorted(row["text"] for row in there.rows()) == ["b", "c2"]
    assert inserts(backend) == 3
    assert here.ask("GET", second).json()["text"] == "c2"
    assert here.ask("GET", third).status_code in (404, 410)
    # The id of the deleted row leads nowhere, or to the row that the backend has under it by now.
    assert here.ask("GET", old).status_code == there.ask("GET", old).status_code


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


def test_two_proxies_and_an_id_that_is_given_again(reusing):
    backend, there, serve = reusing
    (one, first), (two, second) = serve("--sync", "manual"), serve("--sync", "manual", folder="two")
    settled(one), settled(two)
    mine = first.post("a")
    settled(one), settled(two)
    assert first.rows() == second.rows() == there.rows()
    # The second deletes the row, and its next row gets the id.
    assert second.ask("DELETE", 1).status_code in (200, 204)
    theirs = second.post("b")
    settled(two), settled(one)
    # A list of rows without updatedAt shows what is gone; the first needs a comparison otherwise.
    one.operator("POST", "/tables/ints/pull?wait=20", json={"reconcile": True})
    assert first.rows() == second.rows() == there.rows()
    assert [row["text"] for row in there.rows()] == ["b"]
    assert second.ask("GET", theirs).json()["id"] == 1
    if there.headers.get("ZUMO-API-VERSION"):
        # createdAt says that it is another row.
        assert first.ask("GET", mine).status_code in (404, 410)
        assert first.ask("PATCH", mine, {"text": "x"}).status_code in (404, 410)


def test_a_change_of_a_row_whose_id_is_given_again_elsewhere(reusing):
    backend, there, serve = reusing
    if not there.headers.get("ZUMO-API-VERSION"):
        pytest.skip("these rows have neither createdAt nor a version")
    proxy, here = serve("--sync", "manual")
    settled(proxy)
    mine = here.post("a")
    settled(proxy)
    assert here.ask("PATCH", mine, {"text": "mine"}).status_code == 200
    there.ask("DELETE", 1)
    assert there.post("theirs") == 1
    proxy.sync()
    proxy.sync()
    assert [row["text"] for row in there.rows()] == ["theirs"]
    conflict = proxy.operator("GET", "/conflicts")["items"][0]
    assert conflict["itemId"] != "1"
    assert here.ask("GET", mine).json()["text"] == "mine"
    assert here.ask("GET", 1).json()["text"] == "theirs"


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


def test_a_refused_insert_is_the_clients_to_know(start):
    backend = start.backend("--generation", "2", "--table", "ints:integer+no-insert")
    proxy = start.proxy(backend.url, "--policy", "ints=local+integer-ids", "--table", "ints")
    here = Ints(proxy, "2")
    settled(proxy)
    answer = here.ask("POST", item={"text": "a"})
    assert answer.status_code == 405, answer.text
    assert here.rows() == [] and proxy.status()["queue"]["quarantined"] == 0
