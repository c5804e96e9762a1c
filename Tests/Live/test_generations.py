"""Clients of each SDK family over backends of each generation, real processes and real sockets.

The whole matrix runs in process (GenerationMatrixTests); these are the pairs that differ most.
"""

import re

import pytest
import requests

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

FAMILIES = {
    "mobile-services": {
        "X-ZUMO-APPLICATION": "key",
        "X-ZUMO-VERSION": "ZUMO/1.3 (lang=Managed; os=Windows; version=1.3.2)",
    },
    "mobile-apps": {"ZUMO-API-VERSION": "2.0.0", "X-ZUMO-VERSION": "ZUMO/4.2 (lang=Managed)"},
    "datasync": {
        "ZUMO-API-VERSION": "3.0.0",
        "X-ZUMO-VERSION": "Datasync/6.0",
        "X-ZUMO-Options": "nextLink=path",
    },
    "toolkit": {"User-Agent": "Datasync/8.0.0 (lang=Managed)"},
}
NATIVE = {"1": {}, "2-node": FAMILIES["mobile-apps"], "3-toolkit": {"ZUMO-API-VERSION": "3.0.0"}}


class Client:
    """The requests of the SDKs of a family, and the answers that they need."""

    def __init__(self, url, family):
        self.url, self.family = url, family
        self.session = requests.Session()
        self.session.headers.update(FAMILIES[family])
        self.first = family == "mobile-services"
        self.third = family in ("datasync", "toolkit")

    def request(self, method, path, **options):
        query = ("&" if "?" in path else "?") + "__systemproperties=*" if self.first else ""
        return self.session.request(method, self.url + path + query, timeout=10, **options)

    def name(self, bare):
        return "__" + bare if self.first else bare

    def item(self, answer, status, **columns):
        assert answer.status_code == status, answer.text
        # The managed SDKs refuse an answer without a length.
        assert int(answer.headers["Content-Length"]) == len(answer.content) > 0
        assert "Transfer-Encoding" not in answer.headers
        item = answer.json()
        assert {key: item.get(key) for key in columns} == columns
        assert answer.headers["ETag"] == f'"{item[self.name("version")]}"'
        assert DATE.fullmatch(item[self.name("updatedAt")])
        assert item[self.name("deleted")] in (True, False)
        assert (self.name("createdAt") in item) == (not self.third)
        return item

    def items(self, answer):
        assert answer.status_code == 200, answer.text
        assert "ETag" not in answer.headers and int(answer.headers["Content-Length"]) > 0
        return answer.json()["items"] if self.third else answer.json()

    def update(self, id, changes, whole, version=None):
        headers = {"If-Match": f'"{version}"'} if version else {}
        if self.third:
            body = {"id": id, **whole, **changes}
            return self.request("PUT", f"/tables/todoitem/{id}", json=body, headers=headers)
        return self.request("PATCH", f"/tables/todoitem/{id}", json=changes, headers=headers)

    def undelete(self, id, whole):
        path = f"/tables/todoitem/{id}"
        if self.family == "datasync":
            return self.request("PATCH", path, json={"deleted": False})
        if self.family == "toolkit":
            return self.request("PUT", path + "?__includedeleted=true", json={"id": id, **whole})
        return self.request("POST", path)


@pytest.mark.parametrize(
    "family, flavour",
    [
        ("mobile-services", "3-toolkit"),
        ("mobile-apps", "3-toolkit"),
        ("toolkit", "1"),
        ("toolkit", "2-node"),
        ("datasync", "1"),
        ("mobile-services", "2-node"),
    ],
)
def test_a_client_works_over_a_backend_of_another_generation(start, family, flavour):
    backend = start.backend("--flavour", flavour)
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    client = Client(proxy.url, family)
    row = {"text": "milk", "complete": False}

    def native(id):
        query = "?__includeDeleted=true&__systemproperties=*" if flavour == "1" else "?__includeDeleted=true"
        answer = requests.get(f"{backend.url}/tables/todoitem{query}", headers=NATIVE[flavour], timeout=10)
        rows = answer.json()["items"] if flavour == "3-toolkit" else answer.json()
        return next((one for one in rows if one["id"] == id), None)

    def sync():
        run = proxy.sync()
        assert run["state"] == "complete", run

    made = client.request("POST", "/tables/todoitem", json={"id": "a1", **row})
    client.item(made, 201, id="a1", **row)
    sync()
    assert native("a1")["text"] == "milk"

    version = client.item(client.request("GET", "/tables/todoitem/a1"), 200, **row)[client.name("version")]
    stale = client.update("a1", {"text": "x"}, row, version="AAAAAAAAAAA=")
    client.item(stale, 412, **row)
    client.item(client.update("a1", {"text": "bread"}, row, version), 200, text="bread")
    sync()
    assert (native("a1")["text"], native("a1")["complete"]) == ("bread", False)

    bad = client.request("GET", "/tables/todoitem?$filter=text%20eq")
    assert bad.status_code == 400 and "error" in bad.json()
    assert ("code" in bad.json()) == client.first

    gone = client.request("DELETE", "/tables/todoitem/a1")
    assert (gone.status_code, gone.content) == (204, b"") and "ETag" not in gone.headers
    sync()
    deleted = "__deleted" if flavour == "1" else "deleted"
    assert native("a1")[deleted] is True
    missing = client.request("GET", "/tables/todoitem/a1")
    assert missing.status_code == (410 if client.third else 404)
    back = client.undelete("a1", {"text": "bread", "complete": False})
    client.item(back, 201 if family == "mobile-apps" else 200, text="bread")
    sync()
    assert native("a1")[deleted] is False

    other = requests.post(
        f"{backend.url}/tables/todoitem", json={"id": "b1", "text": "theirs"}, headers=NATIVE[flavour], timeout=10
    )
    assert other.status_code == 201, other.text
    sync()
    listed = client.items(client.request("GET", "/tables/todoitem?$orderby=id"))
    assert [one["text"] for one in listed] == ["bread", "theirs"]


@pytest.mark.parametrize("choice, expected", [("auto", "complete"), ("1", "complete"), ("2", "offline")])
def test_the_generation_of_the_backend_is_detected_or_configured(start, choice, expected):
    backend = start.backend("--generation", "1")
    proxy = start.proxy(
        backend.url, "--table", "todoitem", "--sync", "manual", "--backend-generation", choice
    )
    assert proxy.sync()["state"] == expected
    if expected == "offline":
        assert proxy.status()["backend"]["state"] == "notTables"


@pytest.mark.parametrize("flavour", ["1", "2-node", "3", "3-toolkit"])
def test_a_json_patch_reaches_a_backend_of_any_generation(start, flavour):
    backend = start.backend("--flavour", flavour)
    proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", "manual")
    client = Client(proxy.url, "datasync")

    def patch(*operations):
        names = ("op", "path", "value")
        body = [dict(zip(names, operation)) for operation in operations]
        headers = {"Content-Type": "application/json-patch+json"}
        return client.request("PATCH", "/tables/todoitem/a1", json=body, headers=headers)

    def sync():
        run = proxy.sync()
        assert run["state"] == "complete", run
        return client.request("GET", "/tables/todoitem/a1")

    client.request("POST", "/tables/todoitem", json={"id": "a1", "text": "milk", "complete": False})
    client.item(sync(), 200, text="milk", complete=False)
    done = patch(("test", "/text", "milk"), ("replace", "/complete", True), ("replace", "/text", "1.10"))
    client.item(done, 200, text="1.10", complete=True)
    client.item(patch(("test", "/text", "milk"), ("remove", "/complete")), 412, text="1.10", complete=True)
    client.item(sync(), 200, text="1.10", complete=True)

    client.item(patch(("replace", "/deleted", True)), 200, deleted=True)
    assert sync().status_code == 410
    assert patch(("replace", "/text", "x")).status_code == 410
    client.item(patch(("replace", "/deleted", False), ("replace", "/text", "back")), 200, text="back")
    item = client.item(sync(), 200, text="back", complete=True, deleted=False)
    # A fresh copy shows what the backend has now.
    fresh = Client(start.proxy(backend.url, "--table", "todoitem", folder="fresh").url, "datasync")
    there = fresh.items(fresh.request("GET", "/tables/todoitem"))
    assert [(one["id"], one["text"], one["complete"]) for one in there] == [("a1", item["text"], True)]
