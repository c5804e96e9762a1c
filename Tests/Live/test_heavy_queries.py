"""Queries that are much work, and the others, who do not wait for them."""

import statistics
import threading
import time

import pytest
import requests
from programs import ZUMO, sign_in

# Grows a text eightfold each time, and then looks at every letter of it again and again.
GROWING = "text"
for _ in range(5):
    GROWING = f"replace({GROWING},'a','aaaaaaaa')"
for letter in "bcdefg":
    GROWING = f"replace({GROWING},'{letter}','{letter}{letter}')"
HEAVY = f"{GROWING} eq 'x'"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    from programs import Backend, Proxy

    folder = tmp_path_factory.mktemp("heavy")
    backend = Backend(folder / "backend").start()
    proxy = Proxy(folder / "proxy", backend.url).start()
    for number in range(20):
        # The work is that of a few rows.
        proxy.insert({"id": f"r{number}", "text": "abcdefg" * 5 if number < 4 else "none"})
    proxy.sync()
    yield backend, proxy
    proxy.program.kill()
    backend.program.kill()


def list_heavy(proxy, headers=None):
    return requests.get(
        proxy.url + "/tables/todoitem", params={"$filter": HEAVY}, headers={**ZUMO, **(headers or {})}, timeout=120
    )


def test_the_query_is_short_and_has_its_answer(world):
    _, proxy = world
    assert 200 < len(HEAVY) < 1_700
    answer = list_heavy(proxy)
    # No row has that text, or it is more work than any list may take.
    assert (answer.status_code, answer.json()) == (200, []) or answer.status_code == 400, answer.text


def test_sixteen_clients_with_heavy_queries_leave_the_others_alone(world):
    _, proxy = world
    over = threading.Event()
    answers = []

    def ask():
        while not over.is_set():
            answers.append(list_heavy(proxy).status_code)

    def time_of_others():
        began = time.monotonic()
        assert proxy.get("r1").status_code == 200
        assert len(proxy.list(_top=5)) == 5
        return time.monotonic() - began

    askers = [threading.Thread(target=ask) for _ in range(16)]
    for asker in askers:
        asker.start()
    try:
        times = [time_of_others() for _ in range(30)]
    finally:
        over.set()
        for asker in askers:
            asker.join()
    print(f"others: median {statistics.median(times):.3f} s, longest {max(times):.3f} s")
    # The median, on a machine that may be busy; it was 2.5 s.
    assert statistics.median(times) < 0.5
    assert set(answers) <= {200, 400, 503}


def test_another_identity_does_not_wait_for_all_of_them(world):
    backend, proxy = world
    ann = sign_in(proxy, "Ann")
    ann.insert({"id": "own", "text": "abcdefg" * 5})
    order = []

    def ask(name, headers):
        order.append((name, list_heavy(proxy, headers).status_code))

    crowd = [threading.Thread(target=ask, args=("anonymous", {})) for _ in range(12)]
    for one in crowd:
        one.start()
    one = threading.Thread(target=ask, args=("Ann", {"X-ZUMO-AUTH": ann.token}))
    one.start()
    for each in [*crowd, one]:
        each.join()
    place = [name for name, _ in order].index("Ann")
    # Beside those that were answered before Ann asked: one is under way, one may be between.
    assert place < 10, order


@pytest.mark.parametrize("pairs", [129, 899, 900, 901, 5_000, 16_000])
def test_a_query_of_many_pairs_is_refused_at_once(world, pairs):
    _, proxy = world
    began = time.monotonic()
    answer = requests.get(proxy.url + "/tables/todoitem?" + "&" * pairs, headers=ZUMO, timeout=30)
    assert answer.status_code == 400
    assert "more than 128 parameters" in answer.json()["error"]
    assert time.monotonic() - began < 5


def test_what_is_passed_through_has_as_many_pairs_as_it_likes(world):
    _, proxy = world
    target = "/api/echo?" + "a&" * 5_000
    answer = requests.get(proxy.url + target, timeout=30)
    assert answer.status_code == 200
    assert target in answer.headers["X-Echo"]
