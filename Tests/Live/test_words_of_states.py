"""The commands name states as the dashboard does, and take both its words and the API's."""

import re

import pytest
from programs import ROOT


@pytest.fixture(scope="module")
def proxy(start_shared):
    """One refused, one discarded, one sent, one merged into another and one queued change."""
    backend = start_shared.backend("--faults")
    proxy = start_shared.proxy(backend.url, "--sync", "manual", "--table", "todoitem")
    proxy.insert({"id": "sent", "text": "sent"})
    proxy.sync()
    backend.faults({"kind": "status", "status": 400, "methods": ["POST"]})
    for id in ("refused", "discarded"):
        proxy.insert({"id": id, "text": id})
    proxy.sync()
    (operation,) = [one for one in operations(proxy, "quarantined") if one["itemId"] == "discarded"]
    proxy.operator("POST", f"/operations/{operation['id']}/discard", json={"revision": operation["revision"]})
    proxy.insert({"id": "merged", "text": "merged"})
    proxy.delete("merged")
    proxy.insert({"id": "queued", "text": "queued"})
    return proxy


def operations(proxy, states):
    return proxy.operator("GET", f"/operations?state={states}")["items"]


def words_of_the_page():
    source = (ROOT / "Public/shared/words.js").read_text()
    (block,) = re.findall(r"operationState: \{(.*?)\}", source, re.DOTALL)
    return dict(re.findall(r'(\w+): "([^"]+)"', block))


def listed(proxy, state):
    """The word of each operation that is listed for a state."""
    said = proxy.command("queue", "list", "--state", state)
    assert said.returncode == 0, said.stderr
    return [line.split("  ")[1] for line in said.stdout.splitlines() if "  " in line]


def test_a_state_is_listed_in_the_words_of_the_page_and_asked_for_by_word_and_code(proxy):
    words = words_of_the_page()
    assert words["quarantined"] == "refused" and len(words) == 9
    for code, word in words.items():
        by_code, by_word = listed(proxy, code), listed(proxy, word)
        assert by_code == by_word == [word] * len(operations(proxy, code))
    assert listed(proxy, "all") == [words[one["state"]] for one in operations(proxy, "all")]


@pytest.mark.parametrize("asked, codes", [
    ("refused,sent", "quarantined,done"), ("Refused, merged into another", "quarantined,collapsed"),
    ("no clear answer, checking,queued", "unknown,queued"), ("quarantined,queued", "quarantined,queued"),
])
def test_several_states_are_named_with_commas(proxy, asked, codes):
    words = words_of_the_page()
    assert listed(proxy, asked) == [words[one["state"]] for one in operations(proxy, codes)]


@pytest.mark.parametrize("wrong, meant", [
    ("refussed", "refused"), ("quarantine", "quarantined"), ("send", "sent"), ("merged into other", "merged into another"),
])
def test_a_wrong_state_is_answered_with_the_nearest(proxy, wrong, meant):
    said = proxy.command("queue", "list", "--state", f"queued,{wrong}")
    assert said.returncode == 2
    assert f'there is no state "{wrong}"; did you mean "{meant}"?' in said.stderr


def test_counts_have_the_same_words(proxy):
    status = proxy.command("status").stdout
    assert re.search(r"Queue +1 queued, 1 refused$", status, re.MULTILINE), status
    assert re.search(r"Ledger +\d+ accepted = 1 on the server \+ \d+ merged into another \+ 1 discarded \+ 2 open", status)
    groups = proxy.command("queue", "groups").stdout
    assert groups.startswith("1 refused  400"), groups
    run = proxy.command("push")
    assert "push: 1 sent, 0 on the server, 0 conflicts, 1 refused, 2 left over" in run.stdout, run.stdout
