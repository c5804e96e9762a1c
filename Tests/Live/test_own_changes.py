"""Stories of one client that no other writer disturbs: what it was told comes true on the backend."""

import json

import pytest
import requests
from hostile import HTTPBackend

SYSTEM = {"id", "createdAt", "updatedAt", "version", "deleted"}
REFUSAL = {"error": "The INSERT statement conflicted with the FOREIGN KEY constraint."}


class Scripts:
    """Passes requests on to a backend, as a server with a script does: an insert gets an `owner`, and an order that
    names a missing client is refused."""

    def __init__(self, backend):
        self.backend, self.writes = backend, []
        self.server = HTTPBackend(self.behave)
        self.url = self.server.url

    def behave(self, handler, body):
        path = handler.path.split("?")[0]
        item = json.loads(body) if body else {}
        if handler.command != "GET":
            self.writes.append(f"{handler.command} {path.removeprefix('/tables/')}")
        client = item.get("client")
        if client and self.backend.request("GET", f"/tables/clients/{client}").status_code != 200:
            handler.answer(400, json.dumps(REFUSAL).encode(), {})
            return
        if handler.command == "POST" and path.count("/") == 2:
            body = json.dumps({**item, "owner": "sid:42"}).encode()
        sent = ("ZUMO-API-VERSION", "Content-Type", "If-Match")
        answer = requests.request(
            handler.command,
            self.backend.url + handler.path,
            headers={name: handler.headers[name] for name in sent if name in handler.headers},
            data=body,
            timeout=20,
        )
        kept = ("Content-Type", "ETag", "Link")
        fields = {name: answer.headers[name] for name in kept if name in answer.headers}
        handler.answer(answer.status_code, answer.content, fields)


@pytest.fixture
def world(start):
    backend = start.backend("--flavour", "2", "--table", "orders:soft", "--table", "clients:soft")
    for table in ("orders", "clients"):
        for id in ("kept", "gone"):
            backend.insert({"id": id, "text": id}, table)
        backend.delete("gone", table)
    middle = Scripts(backend)
    proxy = start.proxy(middle.url, "--sync", "manual", "--table", "orders", "--table", "clients")
    assert proxy.sync()["state"] == "complete"
    yield backend, middle, proxy
    middle.server.shutdown()


def everything(server, table):
    """All rows, deleted ones too, without what each server makes itself."""
    rows = server.request("GET", f"/tables/{table}?__includeDeleted=true").json()
    return {
        row["id"]: ({name: value for name, value in row.items() if name not in SYSTEM}, row["deleted"]) for row in rows
    }


def same(backend, proxy):
    for table in ("orders", "clients"):
        assert everything(proxy, table) == everything(backend, table)
    ledger = proxy.status()["ledger"]
    assert ledger["accepted"] == ledger["applied"] + ledger["collapsed"]


def test_an_update_reaches_the_backend_although_a_delete_follows(world):
    backend, middle, proxy = world
    proxy.update("kept", {"text": "last words", "done": True}, "orders")
    proxy.delete("kept", "orders")
    assert proxy.sync()["state"] == "complete"
    assert middle.writes == ["PATCH orders/kept", "DELETE orders/kept"]
    assert everything(backend, "orders")["kept"] == ({"text": "last words", "done": True}, True)
    assert proxy.request("POST", "/tables/orders/kept").status_code in (200, 201)
    assert proxy.sync()["state"] == "complete"
    assert everything(backend, "orders")["kept"] == ({"text": "last words", "done": True}, False)
    same(backend, proxy)


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_the_version_of_an_insert_stays_good_when_a_script_sets_its_owner(world, method):
    backend, middle, proxy = world
    made = proxy.insert({"id": "o1", "text": "t"}, "orders")
    assert proxy.sync()["state"] == "complete"
    now = proxy.get("o1", "orders").json()
    assert now["owner"] == "sid:42" and now["version"] != made["version"]
    condition = {"If-Match": f'"{made["version"]}"'}
    body = {"text": "t2"} if method == "PATCH" else None
    answer = proxy.request(method, "/tables/orders/o1", json=body, headers=condition)
    assert answer.status_code in (200, 204)
    assert proxy.sync()["state"] == "complete"
    text = "t2" if method == "PATCH" else "t"
    assert everything(backend, "orders")["o1"] == ({"text": text, "owner": "sid:42"}, method == "DELETE")
    same(backend, proxy)
    # Another writer's value is replaced by no write that names the version of before.
    if method == "PATCH":
        version = answer.json()["version"]
        backend.update("o1", {"text": "theirs"}, "orders")
        proxy.sync()
        condition = {"If-Match": f'"{version}"'}
        assert proxy.request("PATCH", "/tables/orders/o1", json=body, headers=condition).status_code == 412
        assert proxy.request("DELETE", "/tables/orders/o1", headers=condition).status_code == 412


def test_an_order_gets_its_client_after_the_client_is_there(world):
    backend, middle, proxy = world
    proxy.insert({"id": "o1", "text": "order"}, "orders")
    proxy.insert({"id": "c1", "text": "client"}, "clients")
    proxy.update("o1", {"client": "c1"}, "orders")
    assert proxy.sync()["state"] == "complete"
    assert middle.writes == ["POST orders", "POST clients", "PATCH orders/o1"]
    same(backend, proxy)


def test_what_was_refused_is_tried_again_once_its_client_is_there(world):
    backend, middle, proxy = world
    proxy.insert({"id": "o1", "text": "order", "client": "c1"}, "orders")
    proxy.insert({"id": "c1", "text": "client"}, "clients")
    run = proxy.sync()
    assert (run["state"], run["push"]["applied"], run["push"]["quarantined"]) == ("complete", 2, 0)
    assert middle.writes == ["POST orders", "POST clients", "POST orders"]
    same(backend, proxy)
