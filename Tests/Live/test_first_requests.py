"""The first requests to a fresh folder. How each verb is answered is tested in process, by FirstRequestTests."""

from programs import insert_many, wait_until


def test_one_failed_request_marks_the_backend_as_offline(start):
    backend = start.backend("--flavour", "express", "--table", "movies")
    insert_many(backend, ({"id": f"m{n:03}", "title": f"Movie {n}"} for n in range(248)), "movies")
    proxy = start.proxy(backend.url)
    assert proxy.request("GET", "/tables/movies").headers["Understudy-Backend"] == "online"
    wait_until(lambda: proxy.request("GET", "/tables/movies").headers.get("Age"), what="the first pull")
    backend.stop()
    assert proxy.request("GET", "/api/anything").status_code == 503
    wait_until(
        lambda: proxy.request("GET", "/tables/movies").headers["Understudy-Backend"] == "offline",
        1,
        "the backend's absence",
    )
    answer = proxy.request("GET", "/tables/movies?$top=1000")
    assert len(answer.json()) == 248 and answer.headers["Understudy-Backend"] == "offline"


def test_a_large_table_is_usable_in_the_first_second(start):
    backend = start.backend("--flavour", "express", "--table", "many")
    rows = 3_000
    insert_many(backend, ({"id": f"r{number:05}", "n": number} for number in range(rows)), "many")
    for attempt in range(3):  # Other work on the machine also takes time.
        proxy = start.proxy(backend.url, folder=f"fresh{attempt}")
        first = proxy.request("GET", "/tables/many?$top=1000&$orderby=id")
        assert [row["n"] for row in first.json()] == list(range(1000))
        number = rows - 1 - attempt
        last = proxy.get(f"r{number:05}", table="many")
        assert last.json()["n"] == number
        changed = proxy.request("PATCH", f"/tables/many/r{number:05}", json={"n": -1})
        assert changed.json()["n"] == -1
        slowest = max(answer.elapsed.total_seconds() for answer in (first, last, changed))
        if slowest < 1:
            break
        proxy.stop()
    assert slowest < 1
    # A client that syncs sees every row once it has come to an empty page, by the store's times.
    seen, since = {}, "1970-01-01T00:00:00.000Z"
    while True:
        query = f"$filter=(updatedAt ge datetimeoffset'{since}')&$orderby=updatedAt&$top=50&__includeDeleted=true"
        page = proxy.request("GET", f"/tables/many?{query}").json()
        new = [row for row in page if seen.get(row["id"]) != row["updatedAt"]]
        if not new:
            break
        seen |= {row["id"]: row["updatedAt"] for row in page}
        since = page[-1]["updatedAt"]
    assert len(seen) == rows
