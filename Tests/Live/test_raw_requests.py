"""The matrix of raw requests: none has an effect, each gets the right status, and the next client is served
at once.
"""

import pytest
import requests
from cut_heads import cut
from programs import wait_until
from raw_requests import matrix
from raw_wire import JSON, answers, request, send, served_within, untouched

# Seconds within which another client gets its answer after each request.
AT_ONCE = 0.05


@pytest.fixture(scope="module")
def guarded(start_shared):
    backend = start_shared.backend("--faults")
    return start_shared.proxy(backend.url, "--sync", "manual"), backend


def test_the_matrix_has_at_least_fifteen_hundred_requests(guarded):
    proxy, _ = guarded
    names = [name for name, _, _ in matrix(proxy.port)]
    assert len(set(names)) >= 1500


def test_each_request_gets_its_status_without_effect_and_the_next_client_is_answered(guarded):
    proxy, backend = guarded
    wrong, slow = [], []
    for name, status, raw in matrix(proxy.port):
        got = send(proxy.port, raw)
        if got != status:
            wrong.append((name, got, status))
        took = served_within(proxy, AT_ONCE)
        if took > AT_ONCE:
            slow.append((name, took))
    assert wrong == []
    assert slow == []
    untouched(proxy, backend)


def test_a_head_that_is_not_whole_gets_one_answer_and_nothing_behind_it_is_executed(guarded):
    proxy, backend = guarded
    for port in (proxy.port, backend.port):
        seen = {name: answers(port, raw) for name, raw in cut(port)}
        assert seen == {name: [400] for name in seen}
    untouched(proxy, backend)


def test_every_refusal_is_counted_in_metrics_and_shown_with_a_sentence(guarded):
    proxy, _ = guarded

    def entries():
        return {one["reason"]: one for one in proxy.operator("GET", "/rejections")["items"]}

    before = entries()
    refused = [
        request(proxy.port, host="evil.example"),
        request(proxy.port, fields=["Origin: https://evil.example", JSON]),
        request(proxy.port, fields=["Content-Type: text/plain"]),
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 40_000 + b"\r\n\r\n",
    ]
    for raw in refused:
        send(proxy.port, raw)

    def grown(reason):
        return entries().get(reason, {"count": 0})["count"] > before.get(reason, {"count": 0})["count"]

    for reason in ("host", "cross-origin", "content-type", "repeated-field", "unreadable", "head-length"):
        wait_until(lambda: grown(reason), what=reason)
        assert entries()[reason]["sentence"].endswith(".")
    found = entries()
    assert found["cross-origin"]["lastDetail"] == "https://evil.example"
    metrics = requests.get(proxy.url + "/-/metrics", timeout=10).text
    for reason, one in found.items():
        assert f'understudy_rejected_requests_total{{reason="{reason}"}} {one["count"]}' in metrics
    assert proxy.status()["rejectedRequests"] == sum(one["count"] for one in found.values())


def test_a_valid_request_is_answered_after_all_refusals(guarded):
    proxy, _ = guarded
    item = proxy.insert({"text": "honest"})
    assert proxy.get(item["id"]).status_code == 200
