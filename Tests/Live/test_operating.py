"""What an operator relies on: whole output or an error, settings that hold everywhere, warnings that come."""

import fcntl
import json
import os
import select
import signal
import subprocess

import pytest
import requests
from installed import NOBODY
from programs import sign_in, wait_until

TOLD_FULL = "understudy: Cannot write standard output: No space left on device.\n"


@pytest.fixture(scope="module")
def running(shared_world):
    shared_world.start_proxy()
    return shared_world


def test_an_export_into_a_pipe_that_is_full_for_now_is_whole(running):
    world = running
    for number in range(40):
        world.insert({"id": f"{number:03}", "text": "x" * 4000})
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETFL, fcntl.fcntl(writing, fcntl.F_GETFL) | os.O_NONBLOCK)
    # It holds less than one row.
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    program = subprocess.Popen(
        [world.person.program, "export"], stdout=writing, stderr=subprocess.PIPE,
        **world.person._options({}))
    os.close(writing)
    select.select([reading], [], [], 30)
    with open(reading, "rb") as pipe:
        text = pipe.read().decode()
    assert (program.wait(60), program.stderr.read()) == (0, b"")
    program.stderr.close()
    lines, again = (
        [json.loads(line) for line in one.splitlines()]
        for one in (text, world.person.run("export").stdout))
    assert lines[1:] == again[1:]
    assert (lines[-1]["items"], lines[-1]["operations"]) == (40, 40)


def test_output_that_cannot_be_written_is_an_error(running):
    person = running.person
    for words in (["export"], ["status", "--json"], ["config", "show"], ["--help"]):
        with open("/dev/full", "wb") as full:
            finished = subprocess.run(
                [person.program, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                timeout=60, **person._options({}))
        assert (finished.returncode, finished.stderr) == (1, TOLD_FULL), words


@pytest.fixture(scope="module")
def signed_in(start_shared):
    """A proxy with a change of a user that was not sent, and the user's identity."""
    proxy = start_shared.proxy(start_shared.backend("--sign-in", "todoitem").url, "--sync", "manual")
    ana = sign_in(proxy, "ana")
    assert ana.request("GET", "/tables/todoitem").status_code == 200
    ana.insert({"id": "a", "text": "not sent"})
    (identity,) = [one["identity"] for one in proxy.operator("GET", "/identities")["items"]
                   if one["identity"] != "anonymous"]
    return proxy, identity


def test_an_export_without_an_identity_is_whole_and_names_the_other_stores(signed_in, tmp_path):
    proxy, identity = signed_in
    for running in (True, False):
        if not running:
            proxy.stop()
        file = tmp_path / f"running-{running}.jsonl"
        for words in ([], ["--output", file]):
            done = proxy.command("export", *words)
            assert done.returncode == 0, done.stderr
            assert f"Export each of their stores with --identity: {identity}\n" in done.stderr
            end = json.loads((file.read_text() if words else done.stdout).splitlines()[-1])
            assert (end["type"], end["operations"]) == ("end", 0)


def write(person, name, lines):
    path = person.home / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    return path


def operation(table, item):
    return {"type": "operation", "summary": {"table": table, "itemId": item, "kind": "insert"},
            "payload": {"text": "one"}, "mine": {"text": "one"}}


def test_an_import_refuses_an_export_that_lacks_lines(running):
    person = running.person
    before = person.json("queue")["total"]
    made = [operation("todoitem", "a"), operation("todoitem", "b")]
    for end in ({"operations": 3}, {"operations": 2, "items": 1}, {"operations": 2, "history": 1}):
        file = write(person, "torn.jsonl", [{"type": "export"}, *made, {"type": "end", **end}])
        said = person.run("import", file, expect=1).stderr
        assert "lines that it counts are missing" in said and "Nothing was imported" in said, said
    cut = [{"type": "export"}, {"type": "export"}, *made, {"type": "end", "operations": 2}]
    said = person.run("import", write(person, "cut.jsonl", cut), expect=1).stderr
    assert "lines that it counts are missing" in said, said
    assert person.json("queue")["total"] == before
    whole = [{"type": "export"}, *made, {"type": "end", "operations": 2, "history": 0}]
    assert person.json("import", write(person, "whole.jsonl", whole))["written"] == 2


def test_commands_on_a_stopped_folder_hold_to_the_settings(world):
    world.configure(world.file.read_text() + "keep-history = 365d\n")
    world.start_proxy()
    world.stop(world.proxy)
    person = world.person
    file = write(person, "child.jsonl", [
        {"type": "export"}, operation("child", "kid"), {"type": "end", "operations": 1}])
    refused = person.json("import", file, expect=1)
    assert (refused["written"], refused["refused"]) == (0, 1)
    assert "allowed" in refused["problems"][0]["detail"]
    assert "child" not in [one["name"] for one in person.json("tables")["items"]]
    assert "history 365 days" in person.run("status", "--verbose", expect=6).stdout


def policies(world):
    table = world.person.json("tables")["items"][0]
    return table["name"], table["readPolicy"], table["conflictPolicy"]


def test_a_policy_that_is_named_no_more_goes_back_to_the_standard(world):
    plain = world.file.read_text()
    world.configure(plain + "policy = todoitem=server+revalidate\n")
    world.start_proxy()
    assert policies(world) == ("todoitem", "revalidate", "server")
    # A reload without a part of it.
    world.configure(plain + "policy = todoitem=server\n")
    world.proxy.send_signal(signal.SIGHUP)
    wait_until(lambda: "configuration reloaded" in world.proxy.said(), what="the reload")
    assert policies(world) == ("todoitem", "local", "server")
    world.stop(world.proxy)
    # A start without the line.
    world.configure(plain)
    world.start_proxy()
    assert policies(world) == ("todoitem", "local", "ask")
    # What the operator sets is not the file's, and stays.
    world.person.run("tables", "set", "todoitem", "--conflict", "merge")
    world.stop(world.proxy)
    world.start_proxy()
    assert policies(world) == ("todoitem", "local", "merge")


def test_a_configuration_file_shows_all_problems_at_once(world):
    world.configure("lisen = 1\nsync = never\nbackend = http://a.example # mine\n")
    said = world.person.run("serve", expect=2).stderr
    assert [line.split(" is ")[0] for line in said.splitlines()] == [
        f"understudy: {world.file}:1", f"{world.file}:2 sync", f"{world.file}:3 backend"]
    problems = world.person.json("config", "check", world.file, expect=2)["problems"]
    assert "\n".join(problems) + "\n" == said.removeprefix("understudy: ")


def test_a_backend_at_its_own_address_is_found_by_the_check(world):
    world.configure(f"backend = http://127.0.0.1:{world.port}\nlisten = 127.0.0.1:{world.port}\n")
    (problem,) = world.person.json("config", "check", world.file, expect=2)["problems"]
    refusal = world.person.run("serve", expect=2).stderr.removeprefix("understudy: ").strip()
    assert "is the address that this proxy listens on" in refusal
    assert problem == f"{refusal} (A socket that a socket unit hands over takes the place of listen.)"


def test_a_backend_that_was_not_asked_has_no_sample(world):
    world.start_backend("--samples")
    world.start_proxy()

    def samples():
        text = requests.get(f"{world.url}/-/metrics", timeout=5).text
        return [line for line in text.splitlines() if line.startswith("understudy_backend_up")]

    assert samples() == []
    world.person.run("sync")
    assert samples() == ['understudy_backend_up{identity="anonymous"} 1']


def test_a_user_who_is_away_and_a_failing_backup_are_found(signed_in):
    proxy, identity = signed_in
    proxy.stop()
    (proxy.folder / "taken").write_text("")
    (proxy.folder / "taken").chmod(0o600)
    proxy.start("--backup-folder", str(proxy.folder / "taken/here"))
    assert proxy.command("backup").returncode != 0
    found = json.loads(proxy.command("doctor", "--json").stdout)["findings"]
    (waits,) = [one for one in found if one["check"] == "sync"]
    assert f"wait in closed stores: {identity} (1)." in waits["finding"], waits
    assert waits["advice"].endswith(f"understudy queue --identity {identity}")
    (failing,) = [one for one in found if one["check"] == "backup"]
    assert failing["state"] == "warning" and str(proxy.folder / "taken") in failing["finding"]


def test_a_folder_without_its_token_says_so(world):
    world.start_proxy()
    token = world.person.home / ".local/share/understudy/operator.token"
    token.unlink()
    for words in ("status", "open"):
        said = world.person.run(words, expect=1).stderr
        assert said == f"understudy: {token} is missing: restart Understudy, which makes a new one.\n"
    found = world.person.json("doctor", expect=1)["findings"]
    assert [one for one in found if one["check"] == "listening"] == [{
        "check": "listening", "state": "problem",
        "finding": f"{token} is missing: restart Understudy, which makes a new one.",
        "advice": "Correct that, then look again with: understudy doctor",
    }]
