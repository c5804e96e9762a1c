"""Output that only a terminal gets: progress bars and questions; no colours."""

import json
import os
import pty
import re
import subprocess
import unicodedata

import pytest
import requests
from hostile import HTTPBackend, honest
from installed import new_world
from terminals import Terminal


@pytest.fixture(scope="module")
def running(shared_world):
    shared_world.start_proxy()
    return shared_world


def test_long_work_shows_a_progress_bar_only_on_a_terminal(running):
    world = running
    for number in range(5):
        world.insert({"text": f"todo {number}"})
    terminal = Terminal(world.person, "export", "--output", "seen.jsonl")
    code, output = terminal.finish()
    assert code == 0 and output == ""
    assert "operations  [##" in terminal.said and "] 5 of 5" in terminal.said
    # The bar is removed again, and the last line is plain text.
    last = terminal.said.replace("\r\n", "\n").rstrip("\n").rpartition("\r")[2]
    assert last.startswith("\x1b[K") and "5 operations" in last
    plain = world.person.run("export", "--output", "unseen.jsonl")
    assert "[#" not in plain.stderr and "\x1b" not in plain.stderr
    data = world.person.run("export")
    assert "\x1b" not in data.stdout + data.stderr


def test_a_question_is_asked_on_a_terminal_and_only_y_confirms(running):
    world = running
    world.person.run("queue", "discard", "--all", "--yes")
    world.insert({"text": "keep me"})
    for answer, code, left in (("n", 1, 1), ("", 1, 1), ("y", 0, 0)):
        terminal = Terminal(world.person, "queue", "discard", "--all", "--json")
        terminal.read(until="[y/N] ")
        assert "1 change is given up. Go on? [y/N] " in terminal.said
        terminal.type(answer + "\n")
        assert terminal.finish()[0] == code, terminal.said
        assert world.person.json("queue")["total"] == left


def test_there_are_no_colours_with_or_without_no_color(running):
    for environment in ({}, {"NO_COLOR": "1"}):
        terminal = Terminal(running.person, "status", **environment)
        _, output = terminal.finish()
        assert "Backend" in output and "\x1b[" not in output + terminal.said


def test_no_line_is_wider_than_the_terminal_unless_it_is_one_word(running):
    world = running
    world.person.run("open", "--print-only")
    whole = world.person.run("status", expect=None).stdout
    for words in (["status"], ["tables"], ["config", "check", "none"], ["sessions"]):
        terminal = Terminal(world.person, *words, is_output=True, columns=48)
        terminal.finish()
        for line in terminal.said.splitlines():
            assert len(line) <= 48 or " " not in line.strip(), line
    terminal = Terminal(world.person, "status", is_output=True, columns=48)
    terminal.finish()
    times = re.compile(r"\S*\d\S*")  # What changes from one answer to the next.
    assert times.sub("", terminal.said).split() == times.sub("", whole).split()


# Characters that a terminal obeys or a reader cannot see, by name.
HOSTILE = {
    "ESC": "\x1b[2J\x1b[31m",
    "OSC": "\x1b]52;c;cm0gLXJm\x07\x1b]8;;http://evil.example\x1b\\",
    "C1": "\x9b31m\x9d0;title\x9c",
    "BEL": "\x07",
    "BS": "\x08\x08",
    "DEL": "\x7f",
    "CR LF": "\r\nok       store: sound",
    "tab": "\t",
    "bidirectional": "\u202egnp.exe\u2066\u2069\u200f",
    "separators": "\u2028\u2029",
}
VISIBLE = {
    "ESC": "\\u{1B}[2J\\u{1B}[31m",
    "OSC": "\\u{1B}]52;c;cm0gLXJm\\u{07}\\u{1B}]8;;http://evil.example\\u{1B}\\",
    "C1": "\\u{9B}31m\\u{9D}0;title\\u{9C}",
    "BEL": "\\u{07}",
    "BS": "\\u{08}\\u{08}",
    "DEL": "\\u{7F}",
    "CR LF": "\\r\\nok       store: sound",
    "tab": "\\t",
    "bidirectional": "\\u{202E}gnp.exe\\u{2066}\\u{2069}\\u{200F}",
    "separators": "\\u{2028}\\u{2029}",
}


def hidden(text):
    """The invisible characters of an output, except the ends of lines."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\n\u200c\u200d"}


@pytest.fixture(scope="module")
def hostile_world(program):
    """Rows, ids, reasons, user agents and hosts that try to move the cursor."""
    said = " ".join(HOSTILE.values())

    def behaviour(handler, body):
        if handler.command == "POST":
            return handler.answer(400, json.dumps({"error": said, "message": said}).encode())
        return honest(handler, body)

    backend = HTTPBackend(behaviour)
    with new_world(program) as world:
        fill(world, backend)
        yield world
    backend.shutdown()


def fill(world, backend):
    world.configure(
        f"backend = {backend.url}\nlisten = 127.0.0.1:{world.port}\nsync = manual\ntable = todoitem\n"
        "log-format = text\nlog-level = debug\n"
    )
    world.start_proxy()
    for name, text in HOSTILE.items():
        world.insert({"id": f"{name}\u202e\u2066", "text": f"<{text}>", text: text})
    world.person.run("sync", expect=None)
    agent = "agent \u009b31m \u202e".encode()
    home = world.person.home / ".local/share/understudy"
    bearer = {"Authorization": f"Bearer {(home / 'operator.token').read_text().strip()}"}
    link = requests.post(f"{world.url}/-/api/v1/links", json={}, headers=bearer, timeout=10).json()["url"]
    signed = requests.post(
        f"{world.url}/-/api/v1/session", json={"link": link.split("#link=")[1]},
        headers={"User-Agent": agent}, timeout=10,
    )
    assert signed.status_code == 201
    requests.get(f"{world.url}/tables/todoitem", headers={"Origin": "http://\u009b31m\u202e".encode()}, timeout=10)


LOOKS = (
    ["status"], ["queue"], ["queue", "groups"], ["conflicts"], ["history"], ["tables"], ["runs"],
    ["rejections"], ["sessions"], ["access"], ["doctor"], ["config", "show"], ["settings"],
)


def test_no_command_writes_control_characters_to_a_pipe(hostile_world):
    person = hostile_world.person
    seen = ""
    for words in LOOKS:
        done = person.run(*words, expect=None)
        assert not hidden(done.stdout + done.stderr), (words, hidden(done.stdout + done.stderr))
        seen += done.stdout
    for operation in person.json("queue")["items"]:
        shown = person.run("queue", "show", operation["id"]).stdout
        assert not hidden(shown)
    # The row, the id, the agent and the host are there and visible.
    assert "agent \\u{9B}31m \\u{202E}" in seen and "http://\\u{9B}31m\\u{202E}" in seen
    assert "tab\\u{202E}\\u{2066}" in seen


def test_a_hostile_row_is_shown_escaped(hostile_world):
    queue = hostile_world.person.run("queue", expect=None).stdout
    for name, visible in VISIBLE.items():
        (line,) = [line for line in queue.splitlines() if f"/{name}\\u{{202E}}" in line]
        assert f"<{visible}>" in line, name
        # The reason of the backend's refusal is in the same line.
        assert " ".join(VISIBLE.values())[:40] in line, name


def test_no_command_writes_control_characters_to_a_terminal(hostile_world):
    for words in (["queue"], ["history"], ["rejections"], ["sessions"]):
        near, far = pty.openpty()
        options = hostile_world.person._options({"TERM": "xterm"})
        process = subprocess.Popen(
            [hostile_world.person.program, *words], stdout=far, stderr=far, **options
        )
        os.close(far)
        said = b""
        while True:
            try:
                piece = os.read(near, 65536)
            except OSError:
                break
            if not piece:
                break
            said += piece
        process.wait(20)
        os.close(near)
        text = said.decode().replace("\r\n", "\n")
        assert text and not hidden(text), (words, hidden(text))
        assert text == hostile_world.person.run(*words, expect=None).stdout


def test_json_is_valid_without_control_characters(hostile_world):
    person = hostile_world.person
    for words in LOOKS:
        done = person.run(*words, "--json", expect=None)
        assert not hidden(done.stdout), (words, hidden(done.stdout))
        json.loads(done.stdout)
    titles = [one["title"] for one in person.json("queue", "--limit", "100")["items"]]
    assert {f"<{text}>" for text in HOSTILE.values()} <= set(titles)
    lines = person.run("export").stdout
    assert not hidden(lines)
    items = [json.loads(line) for line in lines.splitlines()]
    texts = [one["item"]["text"] for one in items if one["type"] == "item"]
    assert {f"<{text}>" for text in HOSTILE.values()} <= set(texts)
    assert not hidden(person.run("doctor", "--json", expect=None).stdout)


def test_messages_about_invalid_arguments_are_escaped(hostile_world):
    person = hostile_world.person
    for words in (
        ["pull", "x\x1b[2J"], ["queue", "show", "\x1b]0;x\x07"], ["purge", "a\x9b\u202e", "--yes"],
        ["restore", "\x1b[31m", "--yes"], ["import", "\x08\x7f"], ["--\x1b[2J"], ["backup", ""],
    ):
        done = person.run(*words, expect=None)
        assert done.returncode and done.stderr and not hidden(done.stdout + done.stderr), (words, done)
    terminal = Terminal(person, "purge", "a\x1b[31m\u202e", "--force")
    terminal.read(until="[y/N] ")
    terminal.type("n\n")
    terminal.finish()
    question = terminal.said.split("[y/N]")[0]
    assert "a\\u{1B}[31m\\u{202E}" in question and not hidden(question)
