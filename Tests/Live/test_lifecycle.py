"""Start and stop, and their failures: one clear sentence and the right exit code."""

import os
import re
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest
import requests
from hostile import HTTPBackend, honest
from programs import BINARY, Tables, free_port, wait_until


def run(*arguments, **options):
    return subprocess.run(
        [str(BINARY), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=20,
        stdin=subprocess.DEVNULL,
        **options,
    )


def assert_one_sentence(finished, *words):
    assert finished.returncode >= 2, finished
    lines = [line for line in finished.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, finished.stderr
    for word in words:
        assert str(word) in lines[0], lines[0]
    assert "0x" not in finished.stderr and "Fatal error" not in finished.stderr


def test_ctrl_c_ends_within_two_seconds_and_loses_nothing(start):
    proxy = start.proxy("http://127.0.0.1:9")
    item = proxy.insert({"text": "keep me"})
    assert proxy.program.stop(signal.SIGINT) < 2
    assert proxy.program.process.returncode == 0, proxy.program.output
    proxy.start()
    assert proxy.get(item["id"]).json()["text"] == "keep me"


def test_ctrl_c_ends_an_open_event_stream_too(start):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.session.get(
        proxy.url + "/-/api/v1/events",
        headers={"Authorization": f"Bearer {proxy.token}"},
        stream=True,
        timeout=5,
    )
    assert proxy.program.stop(signal.SIGINT) < 2
    assert proxy.program.process.returncode == 0, proxy.program.output


def test_a_stop_answers_each_write_with_its_real_outcome(start):
    """503 means that nothing was written: a client that sends its insert again makes no second row."""
    proxy = start.proxy("http://127.0.0.1:9")
    statuses = {}

    def write(name, ends):
        tables, count = Tables(proxy.url), 0
        while not ends.is_set():
            count += 1
            item = f"{name}-{count}"
            try:
                answer = tables.request("POST", "/tables/todoitem", json={"id": item})
                statuses[item] = answer.status_code
                ends.wait(0.02 if answer.status_code == 503 else 0)
            except requests.RequestException:
                ends.wait(0.02)  # without an answer the outcome is unknown

    for turn in range(4):
        ends = threading.Event()
        writers = [
            threading.Thread(target=write, args=(f"w{turn}-{number}", ends)) for number in range(10)
        ]
        answered = len(statuses)
        for writer in writers:
            writer.start()
        try:
            wait_until(lambda: len(statuses) > answered + 50, what="answers to all writers")
            assert proxy.stop() < 2
        finally:
            ends.set()
            for writer in writers:
                writer.join()
        proxy.start()
    assert set(statuses.values()) <= {201, 503}
    assert 201 in statuses.values()
    tables = Tables(proxy.url)
    kept = {item: tables.get(item).status_code == 200 for item in statuses}
    assert kept == {item: status == 201 for item, status in statuses.items()}


@pytest.fixture
def slow():
    """A backend that makes rows and files after a while; no client may read its table feedback."""

    def behave(handler, body):
        if handler.command == "GET":
            refused = handler.path.startswith("/tables/feedback")
            return handler.answer(401 if refused else 200, b"[]")
        time.sleep(handler.server.seconds)
        honest(handler, body)

    backend = HTTPBackend(behave)
    backend.seconds = 0.7
    yield backend
    backend.shutdown()


def answer_of_a_stop(proxy, backend, ask):
    """The answer to a client whose request is at the backend when the proxy stops."""
    answers = []
    before = len(backend.writes)
    client = threading.Thread(target=lambda: answers.append(ask()))
    client.start()
    wait_until(lambda: len(backend.writes) > before, what="the request at the backend")
    assert proxy.stop() < 3
    client.join()
    proxy.start()
    return answers[0]


def test_a_stop_waits_for_the_backends_answer_to_a_change(start, slow):
    proxy = start.proxy(slow.url, "--sync", "auto")
    for method, target in (("POST", "/api/files"), ("PUT", "/api/files/1"), ("POST", "/.auth/login/facebook")):
        answer = answer_of_a_stop(
            proxy, slow, lambda: requests.request(method, proxy.url + target, json={"id": "x"}, timeout=20))
        assert answer.status_code == (201 if method == "POST" else 200), (target, answer.text)
        assert answer.json()["id"] == "x", (target, answer.text)
    # An insert that goes to the backend as it came, since no client may read the table.
    proxy.insert({"id": "a"})
    proxy.sync()
    answer = answer_of_a_stop(
        proxy, slow, lambda: proxy.request("POST", "/tables/feedback", json={"id": "f"}))
    assert (answer.status_code, answer.json()["id"]) == (201, "f")
    # Where the backend takes too long, the answer does not say that nothing was done.
    slow.seconds = 4
    answer = answer_of_a_stop(
        proxy, slow, lambda: requests.post(proxy.url + "/api/files", json={"id": "x"}, timeout=20))
    assert answer.status_code == 500 and "Look whether it was" in answer.json()["error"]


def test_a_port_in_use_is_one_sentence(start, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        finished = run(
            *("serve", "--backend", "http://127.0.0.1:9"),
            *("--listen", f"127.0.0.1:{port}", "--data", tmp_path / "data"),
        )
    assert_one_sentence(finished, port, "in use")


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists("/proc"), reason="needs /proc")
def test_a_data_folder_that_cannot_be_written_is_one_sentence():
    # /proc refuses new folders even to root.
    finished = run(
        *("serve", "--backend", "http://127.0.0.1:9"),
        *("--listen", f"127.0.0.1:{free_port()}", "--data", "/proc/understudy"),
    )
    assert_one_sentence(finished, "/proc/understudy")


def test_a_second_process_on_the_same_data_folder_is_one_sentence(start, tmp_path):
    proxy = start.proxy("http://127.0.0.1:9")
    finished = run(
        *("serve", "--backend", "http://127.0.0.1:9"),
        *("--listen", f"127.0.0.1:{free_port()}", "--data", proxy.folder),
    )
    assert_one_sentence(finished, proxy.folder)


def test_everything_in_the_data_folder_is_private(start):
    proxy = start.proxy("http://127.0.0.1:9")
    proxy.insert({"text": "private"})
    for path in [proxy.folder, *proxy.folder.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} {mode:o}"


def test_the_demo_starts_with_todos_survives_restarts_and_starts_over_with_fresh(start, tmp_path):
    ports = (free_port(), free_port())
    arguments = [
        *("demo", "--no-open", "--data", tmp_path / "its demo"),
        *("--listen", f"127.0.0.1:{ports[0]}", "--backend-listen", f"127.0.0.1:{ports[1]}"),
    ]
    from programs import Tables

    tables = Tables(f"http://127.0.0.1:{ports[0]}")

    def rows():
        try:
            return tables.list()
        except Exception:
            return None

    demo = start.program(*arguments)
    wait_until(lambda: demo.alive() and rows() and len(rows()) >= 12, 15, "the sample todos")
    # The output goes to a pipe, which may keep it: so the command is in it, and no one-time link.
    wait_until(lambda: "Ctrl-C stops it" in demo.output, what="the welcome")
    # The program is not in PATH here, so its path is there, and the line works as it is printed.
    command = re.search(r"run (.*understudy open --data .*)", demo.output).group(1)
    opened = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=20)
    assert opened.returncode == 0 and "#link=" in opened.stdout, opened
    assert "#link=" not in demo.output
    kept = tables.insert({"text": "survives"})
    assert demo.stop(signal.SIGINT) < 2
    assert demo.process.returncode == 0, demo.output

    demo = start.program(*arguments)
    wait_until(lambda: demo.alive() and rows(), 15, "the demo again")
    assert tables.get(kept["id"]).json()["text"] == "survives"
    demo.stop()

    demo = start.program(*arguments, "--fresh")
    wait_until(lambda: demo.alive() and rows() and len(rows()) >= 12, 15, "a fresh demo")
    assert tables.get(kept["id"]).status_code == 404
