"""`exp`, a 401 of the backend and a sign-out end a token, also after a restart. While the backend cannot be
reached, a known token is accepted within `--offline-grace`, and the answer reports it."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from hostile import HTTPBackend
from programs import Tables, sign_in, wait_until
from token_backend import TokenBackend


@pytest.fixture
def backend():
    behaviour = TokenBackend()
    server = HTTPBackend(behaviour)
    behaviour.url = server.url
    yield behaviour
    server.shutdown()
    server.server_close()


@pytest.fixture
def proxy(start, backend):
    proxy = start.proxy(backend.url)
    wait_until(lambda: proxy.status()["backend"]["state"] != "offline", what="the backend's first answer")
    return proxy


def client(proxy, token):
    client = Tables(proxy.url)
    client.token = token
    client.session.headers["X-ZUMO-AUTH"] = token
    return client


def known(proxy, backend, seconds=None, user="ana"):
    """A client with a token that the backend has confirmed."""
    one = client(proxy, backend.token(user, seconds))
    assert one.request("GET", "/tables/todoitem").status_code == 200
    return one


def go_away(proxy, backend, one):
    """Stops the backend, and waits until the proxy has noticed."""
    backend.is_away = True
    one.request("GET", "/.auth/me")
    wait_until(lambda: one.request("GET", "/tables/todoitem").headers.get("Understudy-Token"), 40,
               "the backend's absence")


def statuses(one, id):
    """The statuses of a read, a list and a write."""
    return (
        one.request("GET", "/tables/todoitem").status_code,
        one.get("x").status_code,
        one.request("POST", "/tables/todoitem", json={"id": id, "text": "t"}).status_code,
    )


# A token that expires within the skew of clocks is good, one beyond it is not.
SKEW = 300


def test_an_expired_token_is_refused_even_if_the_backend_accepts_it(proxy, backend):
    fresh = known(proxy, backend, 3600)
    assert fresh.request("POST", "/tables/todoitem", json={"id": "f"}).status_code == 201
    assert "Understudy-Token" not in fresh.request("GET", "/tables/todoitem").headers
    late = known(proxy, backend, -SKEW + 60)
    assert statuses(late, "l")[2] == 201
    dead = known(proxy, backend, -SKEW + 2)
    wait_until(lambda: dead.request("GET", "/tables/todoitem").status_code == 401, what="the end of the token")
    assert statuses(dead, "d") == (401, 401, 401)
    # Not even the file of the tokens brings it back.
    proxy.stop()
    proxy.start()
    assert statuses(dead, "d") == (401, 401, 401)
    assert statuses(fresh, "g")[2] == 201
    wait_until(lambda: {"f", "l", "g"} <= backend.rows.keys(), 30, "the writes")
    assert "d" not in backend.rows


def test_a_401_during_a_sync_ends_the_token(proxy, backend):
    ana = known(proxy, backend)
    del backend.good[ana.token]
    assert ana.request("POST", "/tables/todoitem", json={"id": "waits"}).status_code == 201
    wait_until(lambda: ana.get("waits").status_code == 401, 20, "the end of the token")
    proxy.stop()
    backend.is_away = True
    proxy.start()
    assert statuses(ana, "d") == (401, 401, 401)
    backend.is_away = False
    again = sign_in(proxy, "ana")
    # What was acknowledged is sent once the user has signed in again.
    wait_until(lambda: "waits" in backend.rows, 40, "the write")
    assert backend.rows["waits"][1] == again.token


def test_thirty_sign_ins_at_once_succeed_and_are_known_after_a_kill(proxy, backend):
    backend.login_seconds = 0.5
    with ThreadPoolExecutor(30) as pool:
        users = list(pool.map(lambda number: sign_in(proxy, f"user{number}"), range(30)))
    assert len({user.token for user in users}) == 30
    proxy.program.stop(signal.SIGKILL)
    backend.is_away = True
    proxy.start()
    for user in users:
        made = user.request("POST", "/tables/todoitem", json={"id": user.token[-20:]})
        assert made.status_code == 201, made.text
        assert made.headers["Understudy-Token"].startswith("unconfirmed; until=20")
    assert client(proxy, "unknown").request("GET", "/tables/todoitem").status_code == 401


def test_a_sign_out_ends_all_tokens_of_that_user_only(proxy, backend):
    phone, tablet, ben = sign_in(proxy, "ana"), sign_in(proxy, "ana"), sign_in(proxy, "ben")
    assert statuses(tablet, "t")[2] == 201
    wait_until(lambda: "t" in backend.rows, 30, "the write")
    assert phone.request("GET", "/.auth/logout", allow_redirects=False).status_code == 200
    for _ in range(2):
        # The backend would go on taking them.
        assert {phone.token, tablet.token} <= backend.good.keys()
        for one in (phone, tablet):
            assert statuses(one, "after") == (401, 401, 401)
        assert ben.request("GET", "/tables/todoitem").status_code == 200
        proxy.stop()
        proxy.start()
    assert sign_in(proxy, "ana").get("t").json()["id"] == "t"
    assert statuses(phone, "after") == (401, 401, 401)
    assert "after" not in backend.rows


def test_offline_a_known_token_is_accepted_within_the_grace_and_the_answer_reports_it(start, backend):
    proxy = start.proxy(backend.url, "--offline-grace", "1h")
    wait_until(lambda: proxy.status()["backend"]["state"] != "offline", what="the backend's first answer")
    ana, expired = known(proxy, backend, 3600), known(proxy, backend, -SKEW + 5)
    go_away(proxy, backend, ana)
    for restarts in range(2):
        for one in (ana, expired):
            made = one.request("POST", "/tables/todoitem", json={"id": f"{restarts}{one is ana}"})
            assert made.status_code == 201
            assert made.headers["Understudy-Token"].startswith("unconfirmed; until=20")
            for _ in range(5):
                for answer in (one.get("nothing"), one.get(f"{restarts}{one is ana}"),
                               one.request("GET", "/tables/todoitem")):
                    assert answer.headers["Understudy-Token"] == made.headers["Understudy-Token"]
        assert "Understudy-Token" not in proxy.request("GET", "/tables/todoitem").headers
        assert statuses(client(proxy, "unknown"), "u") == (401, 401, 401)
        proxy.stop()
        proxy.start()
    proxy.stop()
    proxy.arguments[-1] = "0h"
    proxy.start()
    wait_until(lambda: statuses(ana, "late") == (401, 401, 401), 40, "the end of the grace")
