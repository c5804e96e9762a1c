"""The backend fails for one table with 503 and answers for another: only the first one waits."""

from programs import wait_until


def failing(start):
    """A proxy with the tables todoitem and orders, whose backend answers 503 for inserts into orders."""
    backend = start.backend("--faults")
    for table in ("todoitem", "orders"):
        backend.request("POST", f"/tables/{table}", json={"id": "a", "text": "one"})
    proxy = start.proxy(backend.url, "--table", "orders", "--table", "todoitem")
    assert proxy.sync()["state"] == "complete"
    backend.faults({"kind": "status", "status": 503, "methods": ["POST"], "tables": ["orders"]})
    return backend, proxy


def table(proxy, name="orders"):
    return next(one for one in proxy.status()["tables"] if one["name"] == name)


def posts(backend):
    return backend.request("GET", "/-/effects").json()["requests"].get("POST", 0)


def test_writes_of_the_other_table_are_sent_and_the_status_names_the_failing_one(start):
    backend, proxy = failing(start)
    before = posts(backend)
    for number in range(50):
        proxy.insert({"id": f"o{number}", "text": "waits"}, "orders")
    proxy.insert({"id": "t", "text": "goes"})
    wait_until(lambda: any(row["id"] == "t" for row in backend.all()), what="the other table")
    wait_until(lambda: table(proxy)["pushWait"], what="the wait")
    status = proxy.status()
    assert status["backend"]["state"] == "online"
    wait = table(proxy)["pushWait"]
    assert wait["reason"].startswith("The backend is not available for table orders (503)")
    tried = wait["failedRequest"]
    assert (tried["method"], tried["path"], tried["status"]) == ("POST", "/tables/orders", 503)
    assert table(proxy, "todoitem")["pushWait"] is None
    # The one that was sent and those that were not say why, and when they are sent.
    page = proxy.operator("GET", "/operations?table=orders")
    assert page["total"] == 50
    assert {one["reason"] for one in page["items"]} == {wait["reason"]}
    assert all(one["nextAttemptAt"] for one in page["items"])
    said = proxy.command("status").stdout
    assert "Its changes wait: The backend is not available for table orders (503)" in said, said
    metrics = proxy.request("GET", "/-/metrics").text
    assert 'understudy_table_pushes_failing{identity="anonymous",table="orders"} 1' in metrics
    assert 'understudy_table_pushes_failing{identity="anonymous",table="todoitem"} 0' in metrics
    # Not each of them is sent into the failure.
    assert posts(backend) - before < 20
    backend.faults()
    assert proxy.sync()["state"] == "complete"
    assert len(backend.all("orders")) == 51 and table(proxy)["pushWait"] is None
    assert proxy.status()["ledger"]["balances"]
