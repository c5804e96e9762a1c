"""Canary texts: a client's token is found only in requests to the backend. Contents of rows are found only
in the store and on the pages that show them."""

import json

import pytest
import requests
from programs import ROOT, sign_in, wait_until

CONTENT = "canary-content-51c7"


def operator_paths():
    document = json.loads((ROOT / "Sources/Proxy/Operator/openapi.json").read_text())
    return [
        path.removeprefix("/-/api/v1")
        for path, methods in document["paths"].items()
        if path.startswith("/-/api/v1") and "get" in methods and "{" not in path
        and not path.endswith("/events")
    ]


@pytest.fixture
def world(start):
    backend = start.backend("--sign-in", "todoitem", "--faults")
    return backend, start.proxy(backend.url, "--log-level", "trace")


def test_after_a_full_run_tokens_and_contents_are_only_in_allowed_places(world, tmp_path):
    backend, proxy = world
    ana = sign_in(proxy, "ana")
    # Everything that writes files or logs: a push, a conflict, a refusal, a failure, offline, a restart.
    ana.insert({"id": "a", "text": CONTENT})
    identity = next(one for one in proxy.status()["identities"] if "ana" in one)
    query = f"?identity={identity}"
    proxy.operator("POST", f"/sync{query}&wait=30", json={})
    direct = sign_in(backend, "ana")
    # The request joins a sync that is already under way, which may have looked for writes before this one.
    wait_until(lambda: direct.get("a").status_code == 200)
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    ana.update("a", {"text": f"{CONTENT} mine"})
    direct.update("a", {"text": f"{CONTENT} theirs"})
    ana.insert({"id": "b", "text": f"{CONTENT} refused", "number": {"wrong": CONTENT}})
    proxy.operator("POST", "/mode", json={"mode": "online"})
    proxy.operator("POST", f"/sync{query}&wait=30", json={})
    # Refused requests that contain all canary texts.
    for options in (
        {"headers": {"Origin": "https://evil.example"}},
        {"headers": {"Host": "evil.example"}},
        {"headers": {"Content-Type": "text/plain"}, "data": CONTENT},
        {"headers": {"X-ZUMO-AUTH": ana.token + "x"}, "json": {"text": CONTENT}},
        {"data": f'{{"text":"{CONTENT}"', "headers": {"Content-Type": "application/json"}},
    ):
        ana.request("POST", "/tables/todoitem", **options)
    backend.stop()
    ana.insert({"id": "c", "text": f"{CONTENT} offline"})
    ana.request("GET", f"/tables/todoitem?$filter=text eq '{CONTENT}'")
    requests.get(proxy.url + "/api/x", headers={"X-ZUMO-AUTH": ana.token}, timeout=10)
    proxy.operator("POST", f"/sync{query}&wait=5", json={})

    answers = {}
    for path in operator_paths():
        for suffix in ("", query):
            answer = requests.get(
                proxy.url + "/-/api/v1" + path + suffix, timeout=20,
                headers={"Authorization": f"Bearer {proxy.token}"},
            )
            answers[path + suffix] = answer.text + str(answer.headers)
    for path in ("/-/metrics", "/-/readyz", "/-/livez", "/-/", "/-/openapi.json"):
        answer = requests.get(proxy.url + path, timeout=10)
        answers[path] = answer.text + str(answer.headers)
    for words in (("backup", tmp_path / "backup"), ("export", "--output", tmp_path / "export.jsonl")):
        done = proxy.command(*words)
        assert done.returncode == 0, done.stderr
        answers[words[0]] = done.stdout + done.stderr
    commands = ("status", "queue", "conflicts", "history", "paths", "access", "sessions", "doctor --json")
    for command in commands:
        done = proxy.command(*command.split())
        answers[command] = done.stdout + done.stderr
    assert json.loads(answers["doctor --json"])["settings"]
    proxy.stop()
    output = proxy.program.output
    proxy.start()
    proxy.stop()
    output += proxy.program.output

    signature = ana.token.split(".")[2]
    operator_token = proxy.token
    for name, answer in answers.items():
        assert ana.token not in answer and signature not in answer, name
        assert operator_token not in answer, name
    # Contents belong only to the queue, the conflicts, the history and the rows.
    showing = ("/operations", "/conflicts", "/history", "/tables", "queue", "conflicts", "history", "/runs")
    for name, answer in answers.items():
        if not name.startswith(showing):
            assert CONTENT not in answer, name
    assert any(CONTENT in answer for answer in answers.values())

    kept = [tmp_path / "backup", tmp_path / "export.jsonl"]
    files = [path for one in [proxy.folder, *kept] for path in [one, *one.rglob("*")] if path.is_file()]
    assert {"operator.token", "manifest.json", "export.jsonl"} <= {path.name for path in files}
    for path in files:
        data = path.read_bytes()
        assert ana.token.encode() not in data and signature.encode() not in data, path
        if path.name != "operator.token":
            assert operator_token.encode() not in data, path
        if not path.name.startswith(("store.sqlite", "export.jsonl")):
            assert CONTENT.encode() not in data, path
    assert any(CONTENT.encode() in path.read_bytes() for path in files)
    assert ana.token not in output and signature not in output and CONTENT not in output
    assert operator_token not in output
