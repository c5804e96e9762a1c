"""Many users with few open files: a store opens for a request and closes when idle. Due work of closed stores is
sent and counted, also after kill -9. Without free descriptors the answer is 503."""

import os
import pathlib
import re
import resource
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from hostile import HTTPBackend
from programs import ZUMO, Tables, wait_until
from token_backend import TokenBackend

USERS = int(os.environ.get("STORE_USERS", 80))
OPEN, OPEN_IN_USE = 8, 32
# Descriptors that the server leaves free (Limits.reservedDescriptors).
RESERVED = 32


@pytest.fixture
def backend():
    behaviour = TokenBackend()
    server = HTTPBackend(behaviour)
    behaviour.url = server.url
    yield behaviour
    server.shutdown()
    server.server_close()


def sign_in(proxy, user):
    answer = requests.post(
        f"{proxy.url}/.auth/login/facebook", json={"access_token": user}, headers=ZUMO, timeout=20
    )
    assert answer.status_code == 200, answer.text
    client = Tables(proxy.url)
    client.user, client.token = user, answer.json()["authenticationToken"]
    client.session.headers["X-ZUMO-AUTH"] = client.token
    return client


def files(proxy):
    """The open files of the process."""
    folder = pathlib.Path(f"/proc/{proxy.program.process.pid}/fd")
    found = []
    for one in folder.iterdir():
        try:
            found.append(os.readlink(one))
        except FileNotFoundError:
            pass
    return found


def open_stores(proxy):
    return {name for name in files(proxy) if name.endswith("/store.sqlite")}


def operations(proxy, state):
    """The open operations of all identities in a state, by the metrics."""
    text = requests.get(f"{proxy.url}/-/metrics", timeout=20).text
    found = re.findall(rf'^understudy_queue_operations{{.*state="{state}"}} (\d+)', text, re.M)
    return sum(map(int, found))


def examined(proxy):
    text = requests.get(f"{proxy.url}/-/metrics", timeout=20).text
    return 'understudy_stores{state="unexamined"} 0' in text


def test_many_users_are_served_with_few_files_and_a_restart_opens_none_of_them(start, backend):
    proxy = start.proxy(backend.url)
    clients = []
    for number in range(USERS):
        clients.append(sign_in(proxy, f"user{number}"))
        clients[-1].insert({"id": f"i{number}", "text": str(number)})
        assert len(open_stores(proxy)) <= OPEN_IN_USE
    wait_until(lambda: len(backend.rows) == USERS, 60, "every write at the backend")
    for number, client in enumerate(clients):
        # Each under its own user's token.
        assert backend.rows[f"i{number}"][1] == client.token
    wait_until(lambda: len(open_stores(proxy)) <= OPEN, 20, "the closing of idle stores")
    for number, client in enumerate(clients):
        assert client.get(f"i{number}").json()["text"] == str(number)
        assert client.get("i0").status_code == (200 if number == 0 else 404)
    wait_until(lambda: len(open_stores(proxy)) <= OPEN, 20, "the closing of idle stores")
    # The clients' own connections are not counted.
    held = sorted(name for name in files(proxy) if not name.startswith("socket:"))
    assert len(held) < 150, held
    assert len(proxy.status()["identities"]) == USERS + 1
    proxy.stop()
    proxy.start()
    assert len(proxy.status()["identities"]) == USERS + 1
    assert len(open_stores(proxy)) == 1
    assert clients[-1].get(f"i{USERS - 1}").json()["text"] == str(USERS - 1)


def test_users_at_once_are_all_served(start, backend):
    proxy = start.proxy(backend.url)
    clients = [sign_in(proxy, f"user{number}") for number in range(24)]
    backend.is_away = True

    def work(client):
        for number in range(6):
            client.insert({"id": f"{client.user}-{number}"})
            rows = client.all()
            assert {row["id"] for row in rows} == {f"{client.user}-{one}" for one in range(number + 1)}

    # A first write makes the table, so that lists are answered from the store.
    with ThreadPoolExecutor(24) as pool:
        list(pool.map(work, clients))
    assert operations(proxy, "queued") + operations(proxy, "waiting") + operations(proxy, "unknown") == 24 * 6
    backend.is_away = False
    wait_until(lambda: len(backend.rows) == 24 * 6, 90, "every write at the backend")
    for client in clients:
        for number in range(6):
            assert backend.rows[f"{client.user}-{number}"][1] == client.token


@pytest.mark.parametrize("end", ["stop", "kill", "index lost"])
def test_due_work_of_closed_stores_is_counted_at_a_start_and_sent_with_the_tokens_that_came_since(start, backend, end):
    proxy = start.proxy(backend.url)
    clients = [sign_in(proxy, f"user{number}") for number in range(14)]
    backend.is_away = True
    for client in clients:
        client.insert({"id": client.user, "text": "waits"})
    # The last one that is open is written to once more: the index does not know.
    clients[-1].insert({"id": "last"})
    if end == "kill":
        proxy.program.stop(signal.SIGKILL)
    else:
        proxy.stop()
    if end == "index lost":
        for path in (proxy.folder / "stores").glob("index.sqlite*"):
            path.unlink()
    proxy.start()
    wait_until(lambda: examined(proxy), 20, "the look at the stores")
    wait_until(lambda: sum(operations(proxy, s) for s in ("queued", "waiting", "unknown")) == 15, 10,
               "what the metrics tell")
    for name in proxy.status()["identities"][1:]:
        queue = proxy.operator("GET", f"/operations?identity={name}")["items"]
        assert {one["title"] for one in queue} >= {"waits"}, name
    assert proxy.operator("GET", "/conflicts")["items"] == []
    # Each client asks once while the backend is away. Most of the stores are closed when it comes back.
    for client in clients:
        assert client.get(client.user).status_code == 200
    backend.is_away = False
    wait_until(lambda: len(backend.rows) == 15, 90, "every write at the backend")
    for client in clients:
        assert backend.rows[client.user][1] == client.token
    wait_until(lambda: sum(operations(proxy, s) for s in ("queued", "waiting", "unknown")) == 0, 30,
               "what the metrics tell")
    wait_until(lambda: len(open_stores(proxy)) <= OPEN, 20, "the closing of idle stores")


def test_without_descriptors_the_answer_is_503_until_there_are_some(start, backend):
    proxy = start.proxy(backend.url)
    # As many as the program has of itself, those that no connection takes, and some for clients and stores.
    few = len(files(proxy)) + RESERVED + 48
    proxy.stop()
    proxy.launcher = ("prlimit", f"--nofile={few}:{few}")
    proxy.start()
    clients = [sign_in(proxy, f"user{number}") for number in range(3)]
    for client in clients:
        client.insert({"id": client.user})
    statuses, idle = set(), []
    for _ in range(3):
        for _ in range(16):
            idle.append(socket.create_connection(("127.0.0.1", proxy.port)))
        for client in [*clients, Tables(proxy.url)]:
            for method, path in (("GET", "/tables/todoitem"), ("POST", "/tables/todoitem")):
                answer = client.request(method, path, json={"text": "x"} if method == "POST" else None)
                statuses.add(answer.status_code)
                assert answer.status_code != 500, answer.text
                if answer.status_code == 503:
                    assert int(answer.headers["Retry-After"]) > 0
        proxy.program.alive()
    assert statuses <= {200, 201, 401, 503}, statuses
    assert 503 in statuses
    for one in idle:
        one.close()
    for client in clients:
        wait_until(lambda: client.get(client.user).status_code == 200, 20, f"{client.user} is served again")


def test_a_start_with_few_files_succeeds(start, backend):
    proxy = start.proxy(backend.url)
    clients = [sign_in(proxy, f"user{number}") for number in range(40)]
    proxy.stop()
    # Only the program gets few: pytest itself may hold more files than that.
    proxy.launcher = ("prlimit", "--nofile=256:")
    proxy.start()
    soft, hard = resource.prlimit(proxy.program.process.pid, resource.RLIMIT_NOFILE)
    assert soft == hard > 256
    for client in clients:
        client.insert({"id": client.user})
    wait_until(lambda: len(backend.rows) == 40, 60, "every write at the backend")


def test_an_event_stream_gets_events_of_a_store_that_opens_later(start, backend):
    proxy = start.proxy(backend.url)
    first = sign_in(proxy, "first")
    first.insert({"id": "a"})
    name = proxy.status()["identities"][1]
    for number in range(12):
        sign_in(proxy, f"user{number}").insert({"id": f"i{number}"})
    wait_until(lambda: not any(name in one for one in open_stores(proxy)), 30, "the closing of the store")
    headers = {"Authorization": f"Bearer {proxy.token}"}
    with requests.get(f"{proxy.url}/-/api/v1/events?identity={name}", headers=headers, stream=True,
                      timeout=20) as stream:
        lines = stream.iter_lines()
        next(lines)
        first.insert({"id": "b"})
        wait_until(lambda: next(lines).startswith(b"event: item"), 20, "the event of the write")


def failed(proxy):
    text = requests.get(f"{proxy.url}/-/metrics", timeout=20).text
    return int(re.search(r'^understudy_stores{state="failed"} (\d+)', text, re.M)[1])


def test_one_damaged_store_blocks_no_change_and_no_rebind(start, backend):
    proxy = start.proxy(backend.url)
    clients = [sign_in(proxy, f"user{number}") for number in range(12)]
    for client in clients:
        client.insert({"id": client.user})
    wait_until(lambda: len(backend.rows) == 12, 60, "every write at the backend")
    names = proxy.status()["identities"]
    proxy.stop()
    damaged = names[5]
    store = proxy.folder / f"stores/{damaged}/store.sqlite"
    sound = store.read_bytes()
    store.write_bytes(b"damaged " * (len(sound) // 8))

    proxy.start()
    wait_until(lambda: failed(proxy) == 1 and examined(proxy), 20, "the look at the damaged store")
    assert requests.get(f"{proxy.url}/-/readyz", timeout=20).status_code == 200
    answer = proxy.operator("PATCH", "/tables/todoitem", 503, json={"conflictPolicy": "merge"})
    assert answer["code"] == "stores-left"
    assert answer["detail"].startswith("1 of 13 stores could not be changed")
    assert damaged not in answer["detail"]
    doctor = proxy.command("doctor").stdout
    assert f"{damaged} is damaged" in doctor, doctor

    def policy(name):
        (table,) = proxy.operator("GET", f"/tables?identity={name}")["items"]
        return table["conflictPolicy"]

    for name in names:
        if name != damaged:
            assert policy(name) == "merge", name
    proxy.stop()
    # Another address of the same backend counts as another one.
    proxy.backend_url = backend.url.replace("127.0.0.1", "localhost")
    proxy.start("--rebind")
    assert [line for line in proxy.program.lines if "not rebound" in line and damaged in line], \
        proxy.program.output
    for name in names:
        if name != damaged:
            said = proxy.operator("GET", f"/status?identity={name}")
            assert not any("belongs to" in one for one in said["warnings"]), said
    proxy.stop()
    # What was left is taken in after restarts too, when the store can be opened.
    store.write_bytes(sound)
    proxy.start("--rebind")
    assert policy(damaged) == "merge"
    wait_until(lambda: failed(proxy) == 0, 20, "the store that can be opened")
    for client in clients:
        client.insert({"id": f"{client.user}-later"})
    wait_until(lambda: len(backend.rows) == 24, 60, "every write at the backend")
