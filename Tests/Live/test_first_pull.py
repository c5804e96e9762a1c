"""Reads of a table during its first pull, and what ends a pull."""

import json
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest
from hostile import HTTPBackend
from programs import Tables, wait_until

ROWS = 2000


def stamp(number, digits=7):
    """The server keeps times to 100 ns; two rows share each shown millisecond."""
    return f"2024-01-01T00:00:{number // 500:02}.{number % 500 * 2 * 10000 + number % 2 * 5000 % 10000:07}"[
        : 20 + digits
    ]


def row(number):
    return {
        "id": f"r{number:05}",
        "n": number,
        "updatedAt": stamp(number, 3) + "Z",
        "createdAt": "2024-01-01T00:00:00.000Z",
        "version": "AAAAAAAAB9E=",
        "deleted": False,
    }


class Server:
    """Rows whose times have more digits than it shows, in cut pages, with a count and without links."""

    def __init__(self, cut, free=10**9, counts=None):
        self.rows = [row(number) for number in range(ROWS)]
        self.cut, self.counts = cut, counts
        # The pages that a pull may take.
        self.pages = threading.Semaphore(free)
        self.asked, self.inserted = threading.Event(), threading.Event()

    def behave(self, handler, body):
        path, _, query = handler.path.partition("?")
        if path != "/tables/big":
            return handler.answer(404, json.dumps({"error": "no such table"}).encode())
        if handler.command == "POST":
            self.inserted.set()
            return handler.answer(201, json.dumps({**row(0), **json.loads(body)}).encode())
        asked = dict(urllib.parse.parse_qsl(query))
        rows, filter_text = self.rows, asked.get("$filter", "")
        for word, keeps in (("gt", lambda a, b: a > b), ("ge", lambda a, b: a >= b)):
            mark = f"updatedAt {word} datetimeoffset'"
            if mark in filter_text:
                after = filter_text.split(mark)[1].split("'")[0].rstrip("Z")
                rows = [one for one in rows if keeps(stamp(one["n"]), after)]
                break
        if asked.get("$orderby", "").startswith("n desc"):
            rows = rows[::-1]
        top, skip = int(asked.get("$top", self.cut)), int(asked.get("$skip", 0))
        if top >= 50:
            self.asked.set()
            self.pages.acquire(timeout=60)
        page = rows[skip : skip + min(top, self.cut)]
        if asked.get("$inlinecount") == "allpages":
            count = len(rows) if self.counts is None else self.counts
            return handler.answer(200, json.dumps({"results": page, "count": count}).encode())
        handler.answer(200, json.dumps(page).encode())


@pytest.fixture
def serve():
    started = []

    def make(*arguments, **options):
        server = Server(*arguments, **options)
        started.append((server, HTTPBackend(server.behave)))
        return server, started[-1][1].url

    yield make
    for server, backend in started:
        server.pages.release(1000)
        backend.shutdown()


SINCE = "$filter=updatedAt gt datetimeoffset'2024-01-01T00:00:00.500Z'"


def test_a_list_in_another_order_is_the_backends_during_the_pull(start, serve):
    server, url = serve(cut=100, free=4)
    proxy = start.proxy(url)
    direct = [one["n"] for one in server.rows[::-1][:5]]
    for query in ("$orderby=n desc&$top=5", f"{SINCE}&$orderby=n desc&$top=5"):
        answer = proxy.request("GET", f"/tables/big?{query}")
        assert [one["n"] for one in answer.json()] == direct, query
    # A client that syncs begins like this. It gets the store's times and the backend's count.
    changes = "$filter=updatedAt ge datetimeoffset'1970-01-01T00:00:00.000Z'&$orderby=updatedAt&$top=5"
    counted = proxy.request("GET", f"/tables/big?{changes}&$inlinecount=allpages").json()
    assert counted["count"] == ROWS
    assert [one["n"] for one in counted["results"]] == [0, 1, 2, 3, 4]
    # Also where the query exceeds the budget of a list.
    wait_until(lambda: proxy.operator("GET", "/tables")["items"][0]["items"] >= 300, 20)
    much = " or ".join([f"substringof('z{number}',id)" for number in range(60)] + ["n ge 0"])
    answer = proxy.request("GET", f"/tables/big?$filter={much}&$orderby=n desc&$top=5")
    assert "Understudy-Complete" not in answer.headers
    assert [one["n"] for one in answer.json()] == direct


def test_a_page_of_a_sync_during_the_pull_counts_what_it_shows(start, serve):
    _, url = serve(cut=100, free=4)
    proxy = start.proxy(url)
    ask = "/tables/big?$orderby=updatedAt&$top=50&$inlinecount=allpages&__includeDeleted=true"
    first = proxy.request("GET", ask).json()
    assert (first["count"], len(first["results"])) == (ROWS, 50)
    wait_until(lambda: proxy.operator("GET", "/tables")["items"][0]["items"] >= 300, 20)
    # The time is the store's: the backend has no row since then.
    since = first["results"][-1]["updatedAt"]
    second = proxy.request(
        "GET", f"{ask}&$filter=updatedAt ge datetimeoffset'{since}'&$skip=1").json()
    assert (second["count"], [one["n"] for one in second["results"]]) == (1 + 50 + 1, list(range(50, 100)))


def test_a_client_that_wrote_gets_no_list_without_its_rows(start, serve):
    server, url = serve(cut=100, free=0)
    proxy = start.proxy(url)
    proxy.request("GET", "/tables/big?$top=1")
    # Nothing is sent while a page is requested.
    assert server.asked.wait(30)
    proxy.insert({"id": "mine", "n": -5}, table="big")
    # Each waits for the pull, so they are asked at once.
    queries = ("$orderby=n desc&$top=5", "$filter=n ge 100&$top=5", "$top=3&$inlinecount=allpages")
    with ThreadPoolExecutor(len(queries)) as pool:
        answers = list(pool.map(lambda query: Tables(proxy.url).request("GET", f"/tables/big?{query}"), queries))
    for query, answer in zip(queries, answers):
        assert answer.status_code == 503, (query, answer.text)
        assert "Retry-After" in answer.headers


def test_a_write_is_sent_between_two_pages_and_then_lists_are_the_backends(start, serve):
    server, url = serve(cut=100, free=4)
    proxy = start.proxy(url)
    proxy.request("GET", "/tables/big?$top=1")
    proxy.insert({"id": "mine", "n": -5}, table="big")
    for _ in range(10):
        if server.inserted.wait(2):
            break
        server.pages.release()
    assert server.inserted.is_set()
    # The answer to it is stored a moment later. Until then the store alone has the row.
    wait_until(lambda: proxy.status()["ledger"]["applied"] == 1, 20)
    answer = proxy.request("GET", "/tables/big?$orderby=n desc&$top=5")
    assert [one["n"] for one in answer.json()] == [one["n"] for one in server.rows[::-1][:5]]
    server.pages.release(1000)
    wait_until(lambda: proxy.operator("GET", "/tables")["items"][0]["isComplete"], 60)
    assert {one["n"] for one in proxy.all("big")} == set(range(ROWS)) | {-5}


@pytest.mark.parametrize("sync", ["auto", "manual"])
def test_a_backend_without_counts_is_counted_after_the_pull_or_passed_through(start, sync):
    def behave(handler, _):
        # The pages of the pull take longer than a client's list waits.
        if "$top=2" not in urllib.parse.unquote(handler.path):
            held.wait(1)
        skip = "$skip" in urllib.parse.unquote(handler.path) or "gt" in handler.path
        handler.answer(200, json.dumps([] if skip else [row(0), row(1)]).encode())

    held, backend = threading.Event(), HTTPBackend(behave)
    proxy = start.proxy(backend.url, "--sync", sync)
    answer = proxy.request("GET", "/tables/big?$top=2&$inlinecount=allpages").json()
    # Where no pull runs the list is forwarded unchanged.
    rows = answer if sync == "manual" else answer["results"]
    assert [one["n"] for one in rows] == [0, 1]
    assert sync == "manual" or answer["count"] == 2
    backend.shutdown()


def test_a_manual_sync_after_a_first_read_pulls_its_table(start):
    """The engine is busy with another table, so that it is told of the read only after the sync has begun."""
    asked, go_on = threading.Event(), threading.Event()

    def behave(handler, _):
        if handler.path.startswith("/tables/slow"):
            asked.set()
            go_on.wait(30)
            return handler.answer(200, b"[]")
        handler.answer(200, json.dumps([row(1)] if "skip" not in handler.path else []).encode())

    backend = HTTPBackend(behave)
    proxy = start.proxy(backend.url)
    proxy.operator("POST", "/tables/slow/pull?wait=0", 202, json={})
    assert asked.wait(10)
    assert proxy.request("GET", "/tables/first?$top=1").status_code == 200
    run = proxy.operator("POST", "/sync?wait=0", 202, json={})
    go_on.set()
    wait_until(lambda: proxy.operator("GET", f"/runs/{run['id']}")["state"] == "complete")
    run = proxy.operator("GET", f"/runs/{run['id']}")
    assert "first" in [pull["table"] for pull in run["pull"]], run
    assert {table["name"]: table["items"] for table in proxy.operator("GET", "/tables")["items"]}["first"] == 1
    backend.shutdown()


def test_doctor_recognises_a_server_that_accepts_only_its_own_version(start):
    def behave(handler, _):
        if handler.headers.get("ZUMO-API-VERSION", "").startswith("3"):
            return handler.answer(400, b'{"error":"zumo-api-version 3.0.0 is not supported"}')
        handler.answer(404, b"<!DOCTYPE html><pre>Cannot GET</pre>", {"Content-Type": "text/html"})

    backend = HTTPBackend(behave)
    proxy = start.proxy(backend.url)
    found = proxy.command("doctor")
    assert "has no table todoitem. Tables seen so far: none" in found.stdout, found.stdout
    backend.shutdown()
