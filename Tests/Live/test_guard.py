"""What the guard refuses over raw sockets, and how it is counted. The matrix of all hostile requests is in
test_raw_requests.py.

One assertion holds for all of them: no row, no operation, no request to the backend.
"""

import json

import pytest
import requests
from programs import wait_until
from raw_requests import TYPES
from raw_wire import JSON, request, send, untouched


@pytest.fixture(scope="module")
def guarded(start_shared):
    backend = start_shared.backend("--faults")
    return start_shared.proxy(backend.url, "--sync", "manual"), backend


@pytest.mark.parametrize("type", TYPES)
def test_a_form_body_is_refused(guarded, type):
    proxy, backend = guarded
    for method, target in [("POST", "/tables/todoitem"), ("PATCH", "/tables/todoitem/a")]:
        raw = request(proxy.port, method, target, None, [f"Content-Type: {type}"])
        assert send(proxy.port, raw) == 415, (type, method)
    untouched(proxy, backend)


def test_the_operator_api_requires_its_token(guarded):
    proxy, backend = guarded
    for fields in (
        [],
        ["Authorization: Bearer wrong"],
        ["Authorization: Bearer "],
        [f"Cookie: understudy_{proxy.port}=guess"],
        ["Understudy-Session: guess"],
    ):
        for method, target in [("GET", "/-/api/v1/status"), ("POST", "/-/api/v1/sync")]:
            raw = request(proxy.port, method, target, None, [*fields, JSON], b"{}")
            assert send(proxy.port, raw) == 401, (fields, method)
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


def test_refusals_are_counted_by_reason(guarded):
    proxy, _ = guarded
    send(proxy.port, request(proxy.port, host="evil.example"))
    reasons = {one["reason"]: one for one in proxy.operator("GET", "/rejections")["items"]}
    assert reasons["host"]["count"] >= 1
    assert "evil.example" in json.dumps(reasons["host"])


def test_a_valid_request_is_answered_after_all_refusals(guarded):
    proxy, _ = guarded
    item = proxy.insert({"text": "honest"})
    assert proxy.get(item["id"]).status_code == 200
