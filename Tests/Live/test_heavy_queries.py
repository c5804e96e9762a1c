"""Costly queries, and other clients that must not wait for them."""

import os
import pathlib
import socket
import statistics
import threading
import time
import urllib.parse

import pytest
import requests
from programs import ZUMO, Tables, sign_in, wait_until

# Grows a text eightfold each time, and then looks at every letter of it again and again.
GROWING = "text"
for _ in range(5):
    GROWING = f"replace({GROWING},'a','aaaaaaaa')"
for letter in "bcdefg":
    GROWING = f"replace({GROWING},'{letter}','{letter}{letter}')"
HEAVY = f"{GROWING} eq 'x'"


@pytest.fixture(scope="module")
def world(start_shared):
    backend = start_shared.backend()
    proxy = start_shared.proxy(backend.url)
    for number in range(20):
        # The work is that of a few rows.
        proxy.insert({"id": f"r{number}", "text": "abcdefg" * 5 if number < 4 else "none"})
    # More rows of work than any list may do.
    writers = [threading.Thread(target=fill_long, args=(proxy.url, range(n, 400, 8))) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    proxy.sync()
    return backend, proxy


def fill_long(url, numbers):
    writer = Tables(url)
    for number in numbers:
        writer.insert({"id": f"long{number}", "text": "abcdefg" * 5}, table="long")


def list_heavy(proxy, headers=None, table="todoitem"):
    return requests.get(
        f"{proxy.url}/tables/{table}", params={"$filter": HEAVY}, headers={**ZUMO, **(headers or {})}, timeout=120
    )


def test_the_query_is_short_and_has_its_answer(world):
    _, proxy = world
    assert 200 < len(HEAVY) < 1_700
    answer = list_heavy(proxy)
    # No row has that text, or it is more work than any list may take.
    assert (answer.status_code, answer.json()) == (200, []) or answer.status_code == 400, answer.text


def test_sixteen_clients_with_heavy_queries_do_not_delay_others(world):
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


def capability_addresses(proxy, names):
    """A capability address for each name; each counts as a client."""
    made = [proxy.operator("POST", "/access", expect=201, json={"name": name}) for name in names]
    return [address["url"] for address in made]


def cpu_seconds(proxy):
    """The processor time of the proxy in seconds."""
    fields = pathlib.Path(f"/proc/{proxy.program.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send_raw(proxy, target):
    """Sends a request and does not wait for its answer."""
    client = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    fields = [f"Host: 127.0.0.1:{proxy.port}", "ZUMO-API-VERSION: 2.0.0"]
    if target.startswith("/-/"):
        fields.append(f"Authorization: Bearer {proxy.token}")
    client.sendall("\r\n".join([f"GET {target} HTTP/1.1", *fields, "", ""]).encode())
    return client


def rest_of(proxy, seconds):
    """The processor time of the proxy within some seconds."""
    before = cpu_seconds(proxy)
    time.sleep(seconds)
    return cpu_seconds(proxy) - before


def test_sixteen_capability_clients_do_not_delay_others_and_the_operator(world):
    _, proxy = world
    addresses = capability_addresses(proxy, [f"crowd{number}" for number in range(16)])
    over = threading.Event()
    answers = []

    def ask(url):
        heavy = {"$filter": HEAVY}
        while not over.is_set():
            began = time.monotonic()
            answer = requests.get(url + "/tables/long", params=heavy, headers=ZUMO, timeout=120)
            answers.append((answer.status_code, time.monotonic() - began))

    def timed(act):
        began = time.monotonic()
        act()
        return time.monotonic() - began

    other = Tables(proxy.url)
    askers = [threading.Thread(target=ask, args=(url,)) for url in addresses]
    for asker in askers:
        asker.start()
    try:
        short = [timed(lambda: other.list(_top=5)) for _ in range(20)]
        people = [timed(lambda: proxy.operator("GET", "/tables/todoitem/items?top=5")) for _ in range(20)]
    finally:
        over.set()
        for asker in askers:
            asker.join()
    for name, times in (("short lists", short), ("operator's lists", people), ("heavy", [t for _, t in answers])):
        print(f"{name}: median {statistics.median(times):.3f} s, longest {max(times):.3f} s")
    # The medians, on a machine that may be busy.
    assert statistics.median(short) < 1
    assert statistics.median(people) < 1
    assert {status for status, _ in answers} == {400}


def test_a_list_that_is_cut_is_answered_with_advice(world):
    _, proxy = world
    began = time.monotonic()
    answer = list_heavy(proxy, table="long")
    seconds = time.monotonic() - began
    print(f"cut after {seconds:.1f} s")
    assert answer.status_code == 400
    assert "more than 5 seconds" in answer.json()["error"] and "index" in answer.json()["error"]
    # By its steps, or by its time on a slow machine; one call of a function more, where that is busy.
    assert seconds < 8


def test_work_ends_when_the_clients_have_closed(world):
    _, proxy = world
    addresses = capability_addresses(proxy, [f"leaving{number}" for number in range(8)])
    heavy = "/tables/long?" + urllib.parse.urlencode({"$filter": HEAVY})
    targets = [urllib.parse.urlsplit(url).path + heavy for url in addresses] * 6
    # And those of the operator.
    targets += ["/-/api/v1/tables/long/items?" + urllib.parse.urlencode({"filter": HEAVY})] * 12
    before = cpu_seconds(proxy)
    clients = [send_raw(proxy, target) for target in targets]
    # That is minutes of work.
    wait_until(lambda: cpu_seconds(proxy) > before + 1, 60, "work on the lists")
    for client in clients:
        client.close()
    left = cpu_seconds(proxy)
    wait_until(lambda: rest_of(proxy, 1) < 0.05, 60, "the end of the work")
    used = cpu_seconds(proxy) - left
    print(f"{used:.1f} s of a processor after they left")
    # The server's threads still try what has reached them: in the build with assertions that takes seconds.
    assert used < 10
    # What they waited for does not hold up another list that is long.
    began = time.monotonic()
    assert list_heavy(proxy).status_code in (200, 400)
    assert time.monotonic() - began < 10


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
