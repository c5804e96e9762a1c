"""A table into which clients may insert without a sign-in, and which they may not read, such as feedback."""

from programs import wait_until


def unreadable(start, methods, *arguments):
    """A proxy in front of a backend that answers 401 for these methods of the table feedback."""
    backend = start.backend("--faults")
    backend.insert({"id": "a", "text": "one"})
    rule = {"kind": "status", "status": 401, "methods": methods, "tables": ["feedback"]}
    backend.faults(rule)
    proxy = start.proxy(backend.url, *arguments)
    # Another table proves the backend.
    assert [row["text"] for row in proxy.list()] == ["one"]
    return backend, proxy


def test_an_insert_that_the_backend_accepts_is_accepted(start):
    backend, proxy = unreadable(start, ["GET"])
    for number in range(2):
        row = proxy.insert({"id": f"f{number}", "text": "fine", "stars": number}, "feedback")
        assert (row["text"], row["stars"]) == ("fine", number)
    proxy.sync()
    backend.faults()
    there = {row["id"]: (row["text"], row["stars"]) for row in backend.all("feedback")}
    assert there == {"f0": ("fine", 0), "f1": ("fine", 1)}
    assert proxy.operator("GET", "/operations")["total"] == 0
    # The first was passed on, the second went through the queue: both were acknowledged.
    ledger = proxy.status()["ledger"]
    assert (ledger["accepted"], ledger["applied"], ledger["balances"]) == (2, 2, True)


def test_an_insert_that_requires_a_sign_in_is_refused_and_not_stored(start):
    backend, proxy = unreadable(start, ["GET", "POST"])
    direct = backend.request("POST", "/tables/feedback", json={"id": "f", "text": "fine"})
    answer = proxy.request("POST", "/tables/feedback", json={"id": "f", "text": "fine"})
    assert (answer.status_code, direct.status_code) == (401, 401)
    assert proxy.operator("GET", "/operations")["total"] == 0
    assert proxy.status()["ledger"]["balances"]
    proxy.sync()  # The read of the other table may have been passed on, before its first pull.
    assert [table["name"] for table in proxy.operator("GET", "/tables")["items"]] == ["todoitem"]
    # Other tables still work.
    proxy.insert({"id": "b", "text": "two"})
    proxy.sync()
    assert sorted(row["text"] for row in backend.all()) == ["one", "two"]


def test_with_manual_sync_nothing_is_sent_without_a_request(start):
    backend, proxy = unreadable(start, ["GET"], "--sync", "manual")
    answer = proxy.request("POST", "/tables/feedback", json={"id": "f", "text": "fine"})
    assert answer.status_code == 401
    backend.faults()
    assert backend.all("feedback") == []


def test_a_table_that_is_not_copied_is_never_an_empty_list(start):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.insert({"id": "a", "text": "mine"})
    assert [row["text"] for row in proxy.list()] == ["mine"]
    other = proxy.request("GET", "/tables/todoitem?$filter=text eq 'theirs'")
    assert other.status_code == 503 and "Retry-After" in other.headers
    # A client that pages reaches the end, by number or by the last id.
    assert proxy.request("GET", "/tables/todoitem?$filter=id gt 'a'&$orderby=id").json() == []
    assert proxy.request("GET", "/tables/todoitem?$skip=1").json() == []


def test_what_waits_for_a_table_without_lists_goes_after_a_live_insert(start):
    """The only table of the backend refuses every list; also after a restart."""
    backend = start.backend("--faults")
    backend.faults({"kind": "status", "status": 405, "methods": ["GET"], "tables": ["feedback"]})
    proxy = start.proxy(backend.url)
    assert proxy.insert({"id": "live", "text": "now"}, "feedback")["text"] == "now"
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    for number in range(3):
        proxy.insert({"id": f"f{number}", "text": f"later {number}"}, "feedback")
    proxy.operator("POST", "/mode", json={"mode": "online"})
    wait_until(lambda: proxy.operator("GET", "/operations")["total"] == 0)
    backend.faults()
    there = {row["id"]: row["text"] for row in backend.all("feedback")}
    assert there == {"live": "now", "f0": "later 0", "f1": "later 1", "f2": "later 2"}


def test_a_trusted_table_needs_no_list(start):
    backend = start.backend("--faults")
    backend.faults({"kind": "status", "status": 403, "methods": ["GET"], "tables": ["feedback"]})
    proxy = start.proxy(backend.url, "--sync", "manual", "--trust-table", "feedback")
    proxy.insert({"id": "f", "text": "later"}, "feedback")
    proxy.sync()
    backend.faults()
    assert [row["text"] for row in backend.all("feedback")] == ["later"]
