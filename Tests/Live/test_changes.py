"""Changes arrive at once: the stream of changes of a site, of a proxy, and a backend that has none."""

import time

from changes import Follower, PlainBackend
from programs import wait_until
from site_access import ADMIN, files, token  # noqa: F401

# The interval between two syncs is 300 s.
SLOW = ("--table", "todoitem")
# A table is pulled for the stream of changes at most once in so many seconds.
PULL_SECONDS = 5


def followed_since(proxy):
    return proxy.status()["backend"]["changesFollowedSince"]


def await_following(proxy):
    return wait_until(lambda: followed_since(proxy), 30, "the stream is followed")


def all_runs(proxy):
    return proxy.operator("GET", "/runs")["items"]


def runs(proxy):
    return [run["kind"] for run in all_runs(proxy)]


def rests(proxy):
    """Whether a proxy asks nothing for so many seconds. A pull that the stream caused and that brought nothing is no
    run on record."""
    before = proxy.asked()
    time.sleep(PULL_SECONDS)
    return proxy.asked() == before


def text_at(proxy, id):
    answer = proxy.request("GET", f"/tables/todoitem/{id}")
    return answer.json().get("text") if answer.status_code == 200 else None


def test_a_change_crosses_nodes_and_proxies_in_about_a_second(start, postgresql):
    nodes = [start.node("--database", postgresql.url, folder=f"node{place}") for place in range(2)]
    nodes[0].insert({"id": "a", "text": "eggs"})
    proxies = [
        start.proxy(node.url, *SLOW, folder=f"proxy{place}") for place, node in enumerate(nodes)
    ]
    for proxy in proxies:
        await_following(proxy)
        wait_until(lambda: text_at(proxy, "a") == "eggs", what="the first row")

    def crosses(text):
        began = time.monotonic()
        proxies[0].update("a", {"text": text})
        wait_until(lambda: text_at(proxies[1], "a") == text, 20, text)
        return time.monotonic() - began

    def sent():
        """The operations that the first proxy sent: a pull sends what waits before it asks."""
        return sum(run["push"]["sent"] for run in all_runs(proxies[0]) if run["endedAt"])

    def asked():
        return proxies[0].asked() - before

    # The rest after a write, the gathering at the node, and the spread: 1.4 s and the requests. The first change
    # waits for no earlier pull by the stream. The others may, since the one before was pulled a moment ago.
    # Each pull is awaited, since one may serve two changes.
    wait_until(lambda: all([rests(proxy) for proxy in proxies]), what="the pulls of the start")
    before = proxies[0].asked()
    for place, text in enumerate(("milk", "bread", "eggs"), 1):
        assert crosses(text) < (5 if place == 1 else 5 + PULL_SECONDS)
        wait_until(
            lambda: sent() >= place and asked() >= 3 * place, what=f"the push and the pull of the own change {text}")
    # A change of its own is pulled once, and causes no further push or pull: one request writes it, one gets the page
    # with its row, and one the empty page behind that. The start may take one pull.
    wait_until(lambda: rests(proxies[0]), what="the last pull")
    assert asked() <= 9 + 2 and sent() == 3

    # The connections that listen are killed, one for each node.
    listening = "FROM pg_stat_activity WHERE application_name = 'understudy listens'"
    follower = Follower(nodes[1].url)
    assert postgresql.sql(f"SELECT count(pg_terminate_backend(pid)) {listening}") == "2"
    wait_until(lambda: "changes are told again" in nodes[1].program.output, what="the listening connection")
    assert crosses("butter") < 20
    # Who follows was told of all, also of what was committed meanwhile.
    stamp = nodes[0].request("GET", "/tables/todoitem/a").json()["updatedAt"]
    follower.await_stamp("todoitem", stamp)

    # A whole server that restarts: what is written before the node listens again is told afterwards.
    postgresql.stop()
    postgresql.start()
    wait_until(lambda: nodes[0].request("GET", "/-/readyz").status_code == 200, what="the database")
    assert crosses("cheese") < 30
    for one in [*proxies, *nodes]:
        one.stop()


def test_followers_hear_only_of_what_they_may_read(start, files):
    node = start.node(
        *files, "--table", "open", "--table", "notes:authenticated", "--table", "own:per-user",
        "--table", "closed:no-read", "--default-access", "anonymous", "--drain", "0")
    ana, ben = ({"X-ZUMO-AUTH": token(user)} for user in ("ana", "ben"))
    assert Follower(node.url, {"X-ZUMO-AUTH": "wrong"}).answer.status_code == 401
    followers = {
        "nobody": Follower(node.url), "ana": Follower(node.url, ana), "ben": Follower(node.url, ben)}

    def insert(table, headers):
        answer = node.request("POST", f"/tables/{table}", json={"text": "x"}, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json().get("updatedAt")

    insert("closed", ana)
    insert("own", ben)
    insert("notes", ana)
    insert("own", ana)
    last = insert("open", {})
    for follower in followers.values():
        follower.await_stamp("open", last)
    heard = {name: set(follower.tables) for name, follower in followers.items()}
    assert heard == {"nobody": {"open"}, "ana": {"open", "notes", "own"}, "ben": {"open", "notes", "own"}}
    # Ana was told of her own change alone.
    assert len(followers["ana"].stamps("own")) == 1
    # A new follower is told the tables as they are, and no stamp of other users' rows.
    late = Follower(node.url, ana)
    late.await_stamp("open", last)
    assert late.stamps("own") == [None]
    # A list of a table with this name is told by its Accept.
    assert node.request("GET", "/tables/changes", headers={"Accept": "application/json"}).json() == []
    metrics = node.request("GET", "/-/metrics", headers={"Authorization": f"Bearer {ADMIN}"}).text
    assert "understudy_node_changes_followers 4" in metrics and "understudy_node_changes_told 1" in metrics
    node.stop()
    assert all(follower.ended.wait(10) for follower in followers.values())


def test_a_backend_without_the_stream_is_asked_once_and_stays_online(start):
    backends = [
        PlainBackend(),
        PlainBackend(status=405, kind="application/json", body=b'{"error":"no"}'),
        PlainBackend(status=200, kind="application/json", body=b"[]"),
        PlainBackend(status=500, kind="text/plain", body=b"oops"),
    ]
    proxies = [start.proxy(one.url, *SLOW, folder=f"proxy{place}") for place, one in enumerate(backends)]
    for proxy in proxies:
        proxy.operator("PATCH", "/settings", json={"intervalSeconds": 1})
    for backend, proxy in zip(backends, proxies):
        wait_until(lambda: backend.asked_for_changes, what="the question")
        # The syncs that follow ask for the table again, and not for the stream.
        asked = len(backend.asked)
        wait_until(lambda: len(backend.asked) >= asked + 3, what="further syncs")
        assert backend.asked_for_changes == 1
        status = proxy.status()
        assert status["backend"]["state"] == "online" and status["backend"]["changesFollowedSince"] is None
        assert [table["name"] for table in status["tables"]] == ["todoitem"]
        proxy.stop()


def test_without_syncing_by_itself_nothing_is_followed(start):
    node = start.node()
    node.insert({"id": "a"})
    proxy = start.proxy(node.url, "--sync", "manual", "--table", "todoitem")
    assert proxy.sync()["state"] == "complete"
    node.insert({"id": "b"})
    assert followed_since(proxy) is None
    assert text_at(proxy, "b") is None and runs(proxy) == ["sync"]
    proxy.stop()


def test_clients_of_a_proxy_hear_the_stamps_that_they_see(start):
    node = start.node()
    node.insert({"id": "a", "text": "eggs"})
    origin = "https://app.example"
    proxy = start.proxy(node.url, *SLOW, "--allow-origin", origin)
    await_following(proxy)
    wait_until(lambda: text_at(proxy, "a") == "eggs", what="the first row")

    def stamp():
        return proxy.request("GET", "/tables/todoitem/a").json()["updatedAt"]

    follower = Follower(proxy.url, {"Origin": origin})
    assert follower.answer.headers["Access-Control-Allow-Origin"] == origin
    assert Follower(proxy.url, {"Origin": "https://other.example"}).answer.status_code == 403
    follower.await_stamp("todoitem", stamp())
    # A change of the client's own, and one that comes from the backend.
    proxy.update("a", {"text": "milk"})
    follower.await_stamp("todoitem", stamp())
    wait_until(lambda: node.request("GET", "/tables/todoitem/a").json()["text"] == "milk", what="the push")
    node.update("a", {"text": "bread"})
    wait_until(lambda: text_at(proxy, "a") == "bread", 10, "the node's change")
    follower.await_stamp("todoitem", stamp())
    assert follower.stamps("todoitem") == sorted(set(follower.stamps("todoitem")))
    secret = proxy.command("access", "add", "tablet", "--json")
    assert secret.returncode == 0, secret.stderr
    proxy.stop()
    assert follower.ended.wait(10)


def test_users_of_a_proxy_follow_their_own_rows(start, files):
    node = start.node(*files, "--table", "todos:per-user", "--drain", "0")
    proxy = start.proxy(node.url)
    users = {name: {"X-ZUMO-AUTH": token(name)} for name in ("ana", "ben")}
    # Nobody's changes are followed without a token: nothing could be read.
    for headers in users.values():
        assert proxy.request("GET", "/tables/todos", headers=headers).json() == []
    for identity in proxy.status()["identities"][1:]:
        wait_until(
            lambda: proxy.operator("GET", f"/status?identity={identity}")["backend"]["changesFollowedSince"],
            what=f"the stream of {identity}")
    assert followed_since(proxy) is None
    assert Follower(proxy.url, {"X-ZUMO-AUTH": token("ana", seconds=-900)}).answer.status_code == 401
    followers = {name: Follower(proxy.url, headers) for name, headers in users.items()}
    stamps = {}
    for name, headers in users.items():
        node.request("POST", "/tables/todos", json={"id": name}, headers=headers)

        def rows():
            return proxy.request("GET", "/tables/todos", headers=headers).json()

        wait_until(lambda: [row["id"] for row in rows()] == [name], 10, f"{name}'s row")
        stamps[name] = rows()[0]["updatedAt"]
        followers[name].await_stamp("todos", stamps[name])
    assert {name: follower.stamps("todos") for name, follower in followers.items()} == {
        name: [stamp] for name, stamp in stamps.items()}
    # Who signs out hears nothing more.
    proxy.request("GET", "/.auth/logout", headers=users["ana"], allow_redirects=False)
    assert followers["ana"].ended.wait(20) and not followers["ben"].ended.is_set()
    proxy.stop()
