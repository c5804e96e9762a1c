"""Paths are read in one way: each spelling of `/tables` is /tables or refused, and never passed through."""

import pytest
import requests
from by_hand import raw
from hostile import HTTPBackend
from programs import ZUMO

# What servers have been seen to take for /tables/todoitem.
SPELLINGS = [
    "/Tables/todoitem", "/TABLES/todoitem", "/%54ables/todoitem", "/%74%61%62%6c%65%73/todoitem",
    "//tables/todoitem", "///tables/todoitem", "/tables//todoitem", "/tables;a/todoitem",
    "/tables;a=b/todoitem", "/Tables%3Ba/todoitem", "/tables%2Ftodoitem", "/tables%2ftodoitem",
    "/%2Ftables/todoitem", "/tables./todoitem", "/tables%20/todoitem", "/%20tables/todoitem",
    "/tables%2E/todoitem", "/./tables/todoitem", "/x/../tables/todoitem", "/x/%2e%2e/tables/todoitem",
    "/x/..%2Ftables/todoitem", "/x/..;/tables/todoitem", "/x/..%5Ctables/todoitem",
    "/tables\\todoitem", "/%2574ables/todoitem", "/table%C5%BF/todoitem", "/%00tables/todoitem",
    "/;a/tables/todoitem", "/%3b/tables/todoitem", "/%20/tables/todoitem", "/%2F/tables/todoitem",
    "/x/..%20/tables/todoitem", "/x/.%20./tables/todoitem", "/x/%252e%252e/tables/todoitem",
    "/x/..%255ctables/todoitem", "/#/../tables/todoitem", "/tables#/todoitem", "/tables%23/todoitem",
    "/tables%3Ftodoitem", "/tables:80/todoitem", "/tables::$DATA/todoitem", "/%ef%bd%94ables/todoitem",
    "/tables%e2%80%8b/todoitem", "/%ef%bb%bftables/todoitem", "/tables%c2%ad/todoitem",
    "/api//../tables/todoitem", "/api/%25c0%25ae%25c0%25ae/tables/todoitem", "/api/%c0%ae%c0%ae/tables/todoitem",
    "/api/..%E9/tables/todoitem", "/api/.%0A./tables/todoitem", "/api/%5C../tables/todoitem",
]
# Addresses of clients that are none.
WRONG = ["/c/short/tables/todoitem", "/C/short/%54ables/todoitem", "/c//tables/todoitem"]

# Paths of the backend, which are passed through unchanged.
PASSED = [
    "/api/x", "/api/", "/api/a%2Fb?x=%201", "/api/%C3%A4%20b/x;a", "/api/100%25", "/api/a.b/...", "/api/%2525",
    "/api/a%5Cb", "/api/x%0A", "/api//x", "/api///", "/files/caf%E9.txt", "/api/;a/x", "/C/style.css", "/c/", "/c",
    "/.auth/me", "/push/x", "/push/installations/1", "/tablesx/y", "/tables-x", "/favicon.ico", "/$batch",
]


@pytest.fixture(scope="module")
def planted():
    backend = HTTPBackend(lambda handler, _: handler.answer(200, b'[{"id":"planted"}]'))
    yield backend
    backend.shutdown()


@pytest.fixture
def backend(planted):
    """The backend of the file, without the requests that came before a test."""
    planted.requests.clear()
    return planted


@pytest.fixture(scope="module")
def behind_capabilities(start_shared, planted):
    return start_shared.proxy(planted.url, "--sync", "manual", "--tables-access", "capability", folder="capability")


@pytest.fixture(scope="module")
def with_a_list_of_tables(start_shared, planted):
    return start_shared.proxy(planted.url, "--sync", "manual", "--table", "book", folder="tables")


@pytest.fixture(scope="module")
def open_to_all(start_shared, planted):
    return start_shared.proxy(planted.url, "--sync", "manual", folder="open")


@pytest.mark.parametrize("target", SPELLINGS + WRONG)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_spelling_of_tables_avoids_the_capability_check(behind_capabilities, backend, target, method):
    proxy = behind_capabilities
    kind = ["Content-Type: text/plain"] if method == "POST" else []
    status, answer = raw(proxy.port, target, method, kind, b"{}" if method == "POST" else b"")
    assert status in (400, 401, 404, 415), answer
    assert b"planted" not in answer
    assert backend.requests == []
    assert proxy.status()["ledger"]["accepted"] == 0


def test_the_backends_own_paths_are_passed_through_unchanged(start, backend):
    proxy = start.proxy(
        backend.url, "--sync", "manual", "--tables-access", "capability", "--backend-generation", "2")
    address = proxy.command("access", "add", "phone").stdout.strip()
    base = address.removeprefix(proxy.url)
    backend.requests.clear()
    for target in PASSED:
        assert raw(proxy.port, target)[0] == 200, target
        assert raw(proxy.port, base + target)[0] == 200, target
    assert [path for _, path, *_ in backend.requests] == [path for path in PASSED for _ in range(2)]


@pytest.mark.parametrize("target", SPELLINGS)
def test_no_spelling_of_tables_avoids_the_list_of_tables(with_a_list_of_tables, backend, target):
    status, answer = raw(with_a_list_of_tables.port, target, fields=["ZUMO-API-VERSION: 2.0.0"])
    assert status in (400, 404), answer
    assert b"planted" not in answer
    assert backend.requests == []


def test_no_key_is_added_for_a_caller_that_may_not_use_tables(start, backend, tmp_path):
    key = tmp_path / "application.key"
    key.write_text("the-operators-key\n")
    proxy = start.proxy(
        backend.url, "--sync", "manual", "--tables-access", "capability",
        "--application-key-file", str(key), "--backend-generation", "1")
    address = proxy.command("access", "add", "phone").stdout.strip()
    ask = lambda url: requests.get(url + "/api/custom", headers=ZUMO, timeout=10)
    backend.requests.clear()
    assert ask(proxy.url).status_code == 200
    assert ask(address).status_code == 200
    keys = [fields.get("X-ZUMO-APPLICATION") for _, path, fields, _ in backend.requests]
    assert keys == [None, "the-operators-key"]
    assert [path for _, path, *_ in backend.requests] == ["/api/custom", "/api/custom"]


CROSS = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]


@pytest.mark.parametrize("target", ["//api/x", "//", "/api/x", "//login/x", "/.auth%2Fx", "/login;a/x"])
def test_another_site_cannot_navigate_to_the_backends_paths(open_to_all, backend, target):
    status, answer = raw(open_to_all.port, target, fields=CROSS)
    assert status in (400, 403), answer
    assert backend.requests == []


def test_reads_of_missing_tables_make_no_table(start):
    proxy = start.proxy(start.backend("--flavour", "express", "--table", "todoitem").url)
    proxy.insert({"id": "a"})
    for number in range(900):
        assert proxy.request("GET", f"/tables/none{number}").status_code in (200, 404, 503)
    names = [table["name"] for table in proxy.operator("GET", "/tables")["items"]]
    assert names == ["todoitem"]


@pytest.mark.parametrize("target", ["/-%2Fapi", "/-%2Fapi/v1/status", "/-;a", "/-.", "/-:80", "/%2D%2F", "/-%20"])
def test_a_path_similar_to_the_dashboards_is_not_redirected_to_it(open_to_all, backend, target):
    status, answer = raw(open_to_all.port, target)
    assert status == 404, answer
    assert backend.requests == []


def test_a_referer_that_is_no_address_shows_no_secret(open_to_all):
    proxy = open_to_all
    status, _ = raw(
        proxy.port, "/tables/todoitem",
        fields=["Sec-Fetch-Site: cross-site", "Referer: http:/c/SECRETSECRET/x"])
    assert status == 403
    assert "SECRETSECRET" not in proxy.command("rejections", "--json").stdout
    assert "SECRETSECRET" not in proxy.command("rejections").stdout
