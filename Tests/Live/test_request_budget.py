"""`understudy backend --requests-per-second`: what is beyond is refused at once and told when to come again,
and what is served is served as fast as without load."""

import concurrent.futures
import statistics
import time

import requests
from programs import ZUMO

BUDGET = 40  # Requests a second.
BURST = 0.25  # Seconds whose budget is kept while nobody asks.
SECONDS = 2
TURNS = 3


def paced(url, rate, seconds):
    """Sends requests at an even pace, and gives (status, milliseconds, Retry-After) of each."""
    begun = time.monotonic()
    session = requests.Session()
    session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=16))

    def one(number):
        time.sleep(max(0, begun + number / rate - time.monotonic()))
        sent = time.monotonic()
        answer = session.get(url, headers=ZUMO)
        return answer.status_code, (time.monotonic() - sent) * 1000, answer.headers.get("Retry-After")

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        return list(threads.map(one, range(rate * seconds)))


def test_at_twice_the_budget_what_is_served_is_as_fast_and_the_rest_is_refused(start):
    free = start.backend(folder="free")
    limited = start.backend("--requests-per-second", BUDGET)
    for one in (free, limited):
        assert one.request("POST", "/tables/todoitem", json={"text": "served"}).status_code == 201
    calm, busy, seconds = [], [], 0
    for _ in range(TURNS):  # By turns, so that what else the machine does meets both.
        calm += paced(free.url + "/tables/todoitem", BUDGET // 2, SECONDS)
        began = time.monotonic()
        busy += paced(limited.url + "/tables/todoitem", 2 * BUDGET, SECONDS)
        seconds += time.monotonic() - began
    assert {status for status, _, _ in calm} == {200}
    served = [took for status, took, _ in busy if status == 200]
    refused = [wait for status, _, wait in busy if status != 200]
    assert {status for status, _, _ in busy} == {200, 429}
    # Half is served, and at each turn what the budget keeps for a burst. A busy machine sends in bunches, of
    # which less is served, and takes longer, so that more is; RequestBudgetTests count exactly.
    assert 0.5 * len(busy) / 2 <= len(served) <= BUDGET * (seconds + TURNS * BURST) + TURNS
    waits = [int(wait) for wait in refused]
    assert min(waits) >= 1
    # A quarter of the budget's rate returns, so those that were refused together do not.
    assert max(waits) >= len(refused) / TURNS / (BUDGET / 4) / 2
    slower = statistics.median(served) / statistics.median(took for _, took, _ in calm)
    print(f"served {len(served)}, refused {len(refused)}, {slower:.2f} times as slow")
    assert slower <= 3


def test_health_and_preflights_need_no_budget(start):
    backend = start.backend("--requests-per-second", 1)
    url = backend.url + "/tables/todoitem"
    began = time.monotonic()
    answers = [requests.get(url, headers=ZUMO) for _ in range(20)]
    refused = [one for one in answers if one.status_code == 429]
    # One at once, then one a second; the server counts whole milliseconds.
    assert len(answers) - len(refused) <= 1 + time.monotonic() - began + 0.01
    assert refused[-1].json()["error"] and int(refused[-1].headers["Retry-After"]) >= 1
    for path in ["/-/livez", "/-/readyz", "/-/metrics"]:
        assert {requests.get(backend.url + path).status_code for _ in range(5)} == {200}
    page = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    for _ in range(5):
        preflight = requests.options(url, headers=page)
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == page["Origin"]
    # A page of another origin can read why it was refused. A second may have passed, so one may be served first.
    answers = (requests.get(url, headers={**ZUMO, **page}) for _ in range(20))
    answer = next(one for one in answers if one.status_code == 429)
    assert answer.headers["Access-Control-Allow-Origin"] == page["Origin"]
    assert "429" in requests.get(backend.url + "/-/metrics").text
