"""Lists of the commands as files, and the history by a person's words: while Understudy runs and while not."""

import csv
import io
import json

import pytest
from terminals import Terminal


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture(scope="module")
def filled(shared_world):
    world = shared_world
    world.start_backend()
    world.start_proxy()
    for number in range(60):
        world.insert({"id": f"i{number:02}", "text": f"todo {number}", "n": -number})
    world.insert({"id": "odd", "text": "=1+1\x1b[31m\u202e,\"two\"\nlines"})
    return world


def check_lists(person):
    queue = rows_of(person.run("queue", "list", "--csv").stdout)
    assert [row["itemId"] for row in queue] == [f"i{n:02}" for n in range(60)] + ["odd"]
    some = person.run("queue", "list", "--text", "todo 5", "--jsonl").stdout.splitlines()
    assert [json.loads(line)["title"] for line in some] == ["todo 5"] + [f"todo {n}" for n in range(50, 60)]
    rows = rows_of(person.run("tables", "rows", "todoitem", "--filter", "n lt -50", "--orderby", "n", "--csv").stdout)
    assert [(row["id"], row["n"]) for row in rows] == [(f"i{n}", str(-n)) for n in range(59, 50, -1)]
    odd = rows_of(person.run("tables", "rows", "todoitem", "--text", "two", "--csv").stdout)
    # Behind a pipe there may be a terminal.
    assert [row["text"] for row in odd] == ["'=1+1\\u{1B}[31m\\u{202E},\"two\"\nlines"]
    assert rows_of(person.run("conflicts", "list", "--csv").stdout) == []
    history = rows_of(person.run("history", "--when", "today", "--by", "client", "--csv").stdout)
    assert len(history) == 61 and {row["kind"] for row in history} == {"write"}
    assert person.json("history", "--when", "yesterday")["total"] == 0
    page = person.json("history", "--from", "yesterday", "--kind", "written", "--table", "TODOITEM", "--limit", 3)
    assert page["total"] == 61 and len(page["items"]) == 3 and page["to"] is None
    assert "What happened from " in person.run("history", "--when", "2h").stdout
    page = person.json("tables", "rows", "todoitem", "--limit", 2)
    assert page["total"] == 61 and len(page["items"]) == 2
    page = person.json("tables", "rows", "todoitem", "--limit", 2, "--after", page["next"])
    assert page["next"] == "4"


def test_lists_are_written_whole_and_as_the_filter_selects(filled):
    check_lists(filled.person)


def test_wrong_words_end_with_2_and_say_what_is_understood(filled):
    person = filled.person
    wrong = person.run("history", "--when", "lst tusday", expect=2)
    assert wrong.stdout == ""
    assert "--when is not understood: \"lst tusday\". Understood are today, yesterday" in wrong.stderr
    for words in (("queue", "list", "--csv", "--limit", "3"), ("history", "--csv", "--jsonl"),
                  ("history", "--undo", "1", "--when", "today"), ("conflicts", "list", "--csv", "--json"),
                  ("history", "--kind", "writen"), ("history", "--by", "somebody", "--csv")):
        finished = person.run(*words, expect=2)
        assert finished.stdout == "" and finished.stderr, words


def test_a_terminal_gets_no_sign_that_it_obeys(filled):
    person = filled.person
    for form, shown in (("--csv", "\\u{1B}[31m\\u{202E}"), ("--jsonl", "\\u001b[31m\\u202E")):
        terminal = Terminal(person, "tables", "rows", "todoitem", "--text", "two", form, is_output=True)
        terminal.finish()
        assert shown in terminal.said, form
        assert "\x1b" not in terminal.said and "\u202e" not in terminal.said


def test_lists_are_written_alike_from_a_store_without_its_program(filled):
    filled.stop(filled.proxy)
    check_lists(filled.person)
