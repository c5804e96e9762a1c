"""What a person at a terminal sees that a program does not: bars, questions, no colours."""

import os
import pty
import select
import subprocess
import time


class Terminal:
    """A command with a terminal for its input and its standard error, its output kept apart."""

    def __init__(self, person, *arguments, **environment):
        self.end, near = pty.openpty()
        options = person._options({"TERM": "xterm", **environment})
        options["stdin"] = near
        self.process = subprocess.Popen(
            [person.program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=near, **options
        )
        os.close(near)
        self.said = ""

    def read(self, until=None, seconds=20):
        """Reads until a text came, or the command has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (until is None or until not in self.said):
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.end, 4096).decode()
                except OSError:
                    break
            elif self.process.poll() is not None:
                break
        return self.said

    def type(self, text):
        os.write(self.end, text.encode())

    def finish(self):
        output = self.process.stdout.read().decode()
        self.read()
        os.close(self.end)
        return self.process.wait(20), output


def test_long_work_shows_how_far_it_is_on_a_terminal_and_nowhere_else(world):
    world.start_proxy()
    world.person.run("offline")
    for number in range(5):
        world.insert({"text": f"todo {number}"})
    terminal = Terminal(world.person, "export", "--output", "seen.jsonl")
    code, output = terminal.finish()
    assert code == 0 and output == ""
    assert "operations  [##" in terminal.said and "] 5 of 5" in terminal.said
    # The line is taken away again, and the last word is a plain one.
    last = terminal.said.replace("\r\n", "\n").rstrip("\n").rpartition("\r")[2]
    assert last.startswith("\x1b[K") and "5 operations" in last
    plain = world.person.run("export", "--output", "unseen.jsonl")
    assert "[#" not in plain.stderr and "\x1b" not in plain.stderr
    data = world.person.run("export")
    assert "\x1b" not in data.stdout + data.stderr


def test_a_question_is_asked_on_a_terminal_and_only_yes_is_yes(world):
    world.start_proxy()
    world.insert({"text": "keep me"})
    for answer, code, left in (("n", 1, 1), ("", 1, 1), ("y", 0, 0)):
        terminal = Terminal(world.person, "queue", "discard", "--all", "--json")
        terminal.read(until="[y/N] ")
        assert "1 changes are given up. Go on? [y/N] " in terminal.said
        terminal.type(answer + "\n")
        assert terminal.finish()[0] == code, terminal.said
        assert world.person.json("queue")["total"] == left


def test_there_are_no_colours_with_or_without_no_color(world):
    world.start_proxy()
    for environment in ({}, {"NO_COLOR": "1"}):
        terminal = Terminal(world.person, "status", **environment)
        _, output = terminal.finish()
        assert "Backend" in output and "\x1b[" not in output + terminal.said
