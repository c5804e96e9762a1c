"""Schemathesis calls every operation of openapi.json with generated requests, valid and invalid. No invalid one is
accepted."""

import json
import re

import hypothesis
import pytest
import schemathesis
from programs import ROOT
from schemathesis import checks

# A stream does not end, so the in-process tests read it.
schema = schemathesis.openapi.from_path(ROOT / "Sources/Proxy/Operator/openapi.json").exclude(
    path_regex=r"/-/api/v1/events$"
)


@pytest.fixture(scope="module")
def proxy(start_shared):
    """A proxy with an entry in every list: rows, a waiting operation, a conflict, history."""
    backend = start_shared.backend()
    proxy = start_shared.proxy(backend.url, "--sync", "manual")
    for number in range(3):
        proxy.insert({"id": f"t{number}", "text": f"todo {number}"})
    proxy.sync()
    proxy.update("t0", {"text": "mine"})
    backend.update("t0", {"text": "theirs"})
    proxy.sync()
    proxy.update("t1", {"text": "waits"})
    return proxy


@schema.parametrize()
@hypothesis.settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_answers_match_openapi_json(case, proxy):
    # A wrong request is refused before it would wait.
    if case.meta.generation.mode.is_positive and case.path.endswith(("/sync", "/push", "/pull")):
        case.query = {**(case.query or {}), "wait": 0}
    case.call_and_validate(
        base_url=proxy.url,
        headers={"Authorization": f"Bearer {proxy.token}"},
        checks=[
            checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
            checks.negative_data_rejection,
            checks.unsupported_method,
            checks.allow_header_conformance,
            checks.response_headers_conformance,
        ],
    )


def test_every_problem_code_is_in_openapi_json():
    source = ROOT / "Sources/Proxy"
    document = json.loads((source / "Operator/openapi.json").read_text())
    told = set(document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])
    said = set()
    for path in source.rglob("*.swift"):
        said |= set(re.findall(r'code: (?:String = )?"([a-z-]+)"', path.read_text()))
    reasons = (source / "Guard/Refusal.swift").read_text().partition("var status")[0]
    for name, word in re.findall(r"^ +case (\w+)(?: = \"([a-z-]+)\")?$", reasons, re.M):
        said.add(word or name)
    assert said == told
