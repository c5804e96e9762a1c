"""A paused table: its changes wait, what others change is not fetched, and the other tables go on."""

from programs import wait_until


def paused(proxy, table="orders"):
    return next(one["pause"] for one in proxy.status()["tables"] if one["name"] == table)


def test_a_pause_lasts_over_a_restart_and_says_everywhere_that_it_holds_changes_back(start):
    backend = start.backend()
    for table in ("todoitem", "orders"):
        backend.insert({"id": "a", "text": "one"}, table)
    proxy = start.proxy(
        backend.url, "--table", "orders", "--table", "todoitem", "--policy", "orders=write-through"
    )
    assert proxy.sync()["state"] == "complete"

    said = proxy.command("tables", "pause", "orders")
    assert said.returncode == 0 and "nothing is sent or fetched" in said.stdout, said
    for table in ("todoitem", "orders"):
        proxy.update("a", {"text": "mine"}, table)
        backend.insert({"id": "theirs", "text": "from elsewhere"}, table)
    proxy.program.kill()
    proxy.start()
    run = proxy.sync()
    assert run["state"] == "complete" and run["push"]["left"] == 1, run
    assert run["reason"] == "1 change stays here: a person has paused the table."
    assert [pull["table"] for pull in run["pull"]] == ["todoitem"]

    # The other table is the same on both sides; of the paused one each side has what it had.
    texts = lambda server, table: {row["id"]: row["text"] for row in server.all(table)}
    assert texts(proxy, "todoitem") == texts(backend, "todoitem") == {"a": "mine", "theirs": "from elsewhere"}
    assert texts(proxy, "orders") == {"a": "mine"}
    assert texts(backend, "orders") == {"a": "one", "theirs": "from elsewhere"}

    assert paused(proxy) == "all" and paused(proxy, "todoitem") == "nothing"
    [change] = proxy.operator("GET", "/operations?table=orders&state=queued")["items"]
    assert change["reason"] == "A person has paused the table orders."
    assert "A person has paused it: nothing is sent or fetched." in proxy.command("status").stdout
    metrics = proxy.request("GET", "/-/metrics").text
    assert 'understudy_table_paused{identity="anonymous",table="orders"} 1' in metrics
    assert 'understudy_table_paused{identity="anonymous",table="todoitem"} 0' in metrics
    pull = proxy.operator("POST", "/tables/orders/pull?wait=30", json={})
    assert pull["state"] == "completeWithErrors" and "resume it first" in pull["reason"], pull

    assert proxy.command("tables", "resume", "orders").returncode == 0
    wait_until(lambda: texts(backend, "orders")["a"] == "mine", what="the change that was held back")
    assert proxy.sync()["state"] == "complete"
    assert texts(proxy, "orders") == texts(backend, "orders") == {"a": "mine", "theirs": "from elsewhere"}
    refused = proxy.operator("PATCH", "/tables/orders", expect=400, json={"pause": "yes"})
    assert refused["detail"] == "/pause must be one of nothing, pushes, pulls, all."


def test_a_configuration_pauses_a_table_and_ends_the_pause_when_it_does_not_name_it_any_more(start):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--policy", "todoitem=paused-pushes")
    proxy.insert({"id": "a", "text": "one"})
    assert proxy.sync()["push"]["left"] == 1
    assert paused(proxy, "todoitem") == "pushes" and backend.all() == []
    proxy.stop()
    proxy.arguments = []
    proxy.start()
    wait_until(lambda: [row["text"] for row in backend.all()] == ["one"], what="the change")
    assert paused(proxy, "todoitem") == "nothing"
