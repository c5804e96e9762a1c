"""The first request to a backend without a table todoitem, which answers 404 with a page."""

import json
import time
import urllib.parse

import pytest
from hostile import HTTPBackend

PAGE = b"<!DOCTYPE html><pre>Cannot GET</pre>"
# The server's own page size, for every request.
PAGE_ROWS = 7


def movies(count):
    return [
        {
            "id": f"m{number:03}",
            "title": f"Movie {number}",
            "updatedAt": f"2024-01-01T00:{number // 60:02}:{number % 60:02}.000Z",
            "createdAt": "2024-01-01T00:00:00.000Z",
            "version": "AAAAAAAAB9E=",
            "deleted": False,
        }
        for number in range(count)
    ]


def express(rows):
    """A table of movies in pages of seven, without a count and without links. All else is a page with
    404."""

    def behave(handler, _):
        path, _, query = handler.path.partition("?")
        if path.startswith("/tables/movies/"):
            [row] = [row for row in rows if row["id"] == path.rpartition("/")[2]]
            return handler.answer(200, json.dumps(row).encode())
        if path.lower() != "/tables/movies":
            return handler.answer(404, PAGE, {"Content-Type": "text/html; charset=utf-8"})
        asked = dict(urllib.parse.parse_qsl(query))
        found = rows
        if "gt datetimeoffset" in asked.get("$filter", ""):
            after = asked["$filter"].split("gt datetimeoffset'")[1].split("'")[0]
            found = [row for row in rows if row["updatedAt"] > after]
        elif "ge datetimeoffset" in asked.get("$filter", ""):
            after = asked["$filter"].split("ge datetimeoffset'")[1].split("'")[0]
            found = [row for row in rows if row["updatedAt"] >= after]
        skip = int(asked.get("$skip", 0))
        found = found[skip : skip + min(PAGE_ROWS, int(asked.get("$top", PAGE_ROWS)))]
        handler.answer(200, json.dumps(found).encode())

    return behave


@pytest.fixture
def backend():
    backend = HTTPBackend(express(movies(60)))
    yield backend
    backend.shutdown()


def test_a_missing_table_is_404_and_the_next_read_is_answered(start, backend):
    proxy = start.proxy(backend.url)
    began = time.monotonic()
    assert proxy.request("GET", "/tables/nothing").status_code == 404
    assert proxy.get("x", table="nothing").status_code == 404
    rows = proxy.all("movies")
    assert time.monotonic() - began < 5
    assert {row["id"] for row in rows} == {row["id"] for row in movies(60)}
    assert proxy.get("m059", table="movies").json()["title"] == "Movie 59"
    assert proxy.request("GET", "/tables/todoitem").status_code == 404


def test_a_backend_with_short_pages_is_copied_completely(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    run = proxy.operator("POST", "/tables/movies/pull?wait=30", json={})
    assert run["pull"][0]["received"] == 60, run
    run = proxy.operator("POST", "/tables/movies/pull?wait=30", json={"reconcile": True})
    assert run["pull"][0]["deleted"] == 0, run
    assert len(proxy.all("movies")) == 60


def test_a_table_that_was_only_read_is_pulled_by_the_next_manual_sync(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    first = proxy.request("GET", "/tables/movies?$top=5")
    assert [row["id"] for row in first.json()] == [row["id"] for row in movies(5)]
    proxy.request("GET", "/tables/nothing")
    assert proxy.operator("GET", "/tables")["items"] == []
    run = proxy.sync()
    assert [one["table"] for one in run["pull"]] == ["movies"], run
    assert len(proxy.all("movies")) == 60
