"""The service manager: readiness, status, watchdog signals, sockets and units; and the metrics."""

import http.server
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
import requests
from installed import answers
from programs import ROOT, ZUMO, wait_until

UNITS = ROOT / "packaging/systemd"


class Manager:
    """The socket on which systemd listens."""

    def __init__(self, home):
        self.path = str(pathlib.Path(home) / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        os.chmod(self.path, 0o666)
        self.told = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                self.told += self.socket.recv(4096).decode().split("\n")
            except OSError:
                return

    def wait(self, begin, count=1):
        def found():
            matching = [one for one in self.told if one.startswith(begin)]
            return matching if len(matching) >= count else None

        return wait_until(found, what=f"{begin} from the service")


def test_readiness_status_watchdog_reload_and_stop_are_sent(world):
    manager = Manager(world.person.home)
    world.start_proxy(NOTIFY_SOCKET=manager.path, WATCHDOG_USEC="300000")
    manager.wait("READY=1")
    world.insert({"text": "waits"})
    status = manager.wait("STATUS=1 pending, backend offline since")
    assert status
    manager.wait("WATCHDOG=1", 3)
    world.proxy.send_signal(signal.SIGHUP)
    manager.wait("RELOADING=1")
    manager.wait("MONOTONIC_USEC=")
    manager.wait("READY=1", 2)
    world.stop(world.proxy)
    manager.wait("STOPPING=1")


def test_a_hang_up_right_after_readiness_reloads_and_ends_nothing(world):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        path = str(world.person.home / "notify")
        listener.bind(path)
        os.chmod(path, 0o666)
        listener.settimeout(10)
        for _ in range(5):
            process = world.person.start("serve", NOTIFY_SOCKET=path)
            while b"READY=1" not in listener.recv(4096):
                pass
            process.send_signal(signal.SIGHUP)
            while b"RELOADING=1" not in listener.recv(4096):
                assert process.poll() is None, process.said()
            while b"READY=1" not in listener.recv(4096):
                pass
            world.stop(process)
            while b"STOPPING=1" not in listener.recv(4096):
                pass


def test_a_hang_up_during_the_start_is_a_reload_after_it(world):
    process = world.person.start("serve")
    # The lock is made after the signal is trapped, and before the program listens.
    lock = world.person.home / ".local/share/understudy/lock"
    wait_until(lock.exists, what="the lock of the data folder")
    process.send_signal(signal.SIGHUP)
    wait_until(lambda: "configuration reloaded" in process.said(), what="the reload")
    assert process.poll() is None


def test_a_watchdog_of_another_process_does_not_change_the_interval(world):
    manager = Manager(world.person.home)
    world.start_proxy(NOTIFY_SOCKET=manager.path, WATCHDOG_USEC="1000", WATCHDOG_PID="1")
    manager.wait("WATCHDOG=1")
    count = sum(one == "WATCHDOG=1" for one in manager.told)
    time.sleep(0.5)
    assert sum(one == "WATCHDOG=1" for one in manager.told) <= count + 1


def start_with(person, *listeners):
    """Starts the proxy as systemd does, with the listeners as descriptors from 3 on."""
    given = [one.fileno() for one in listeners]
    # Moved out of the way first, as a descriptor may be where another one goes.
    moves = [f"exec {200 + at}<&{number} {number}<&-; " for at, number in enumerate(given)]
    moves += [f"exec {3 + at}<&{200 + at} {200 + at}<&-; " for at in range(len(given))]
    script = "".join(moves) + f'LISTEN_PID=$$ LISTEN_FDS={len(given)} exec "$0" serve'
    return person.start(command=["bash", "-c", script, str(person.program)], pass_fds=given)


def test_an_adopted_socket_is_served(world):
    with socket.create_server(("127.0.0.1", world.port)) as listener:
        world.proxy = start_with(world.person, listener)
        wait_until(lambda: answers(world.url + "/-/readyz"), what="the proxy")
        assert world.insert({"text": "through the socket"})["id"]
        world.stop(world.proxy)


def test_the_sockets_of_both_loopback_addresses_are_served(world):
    for scope in ("system", "user"):
        lines = (UNITS / scope / "understudy.socket").read_text().splitlines()
        assert [one for one in lines if one.startswith("ListenStream=")] == [
            "ListenStream=127.0.0.1:8080", "ListenStream=[::1]:8080"]
    with socket.create_server(("127.0.0.1", world.port)) as four, \
            socket.create_server(("::1", world.port), family=socket.AF_INET6) as six:
        world.proxy = start_with(world.person, four, six)
        wait_until(lambda: answers(world.url + "/-/readyz"), what="the proxy")
        id = world.insert({"text": "by IPv4"})["id"]
        answer = requests.get(f"http://[::1]:{world.port}/tables/todoitem/{id}", headers=ZUMO, timeout=5)
        assert answer.json()["text"] == "by IPv4"
        assert world.person.json("paths") and world.person.run("status", expect=3)
        address = world.person.home / ".local/share/understudy/address"
        assert address.read_text() == f"{world.url}\n"
        world.stop(world.proxy)


def test_a_socket_that_others_can_reach_is_refused(world):
    with socket.create_server(("0.0.0.0", 0)) as listener:
        process = start_with(world.person, listener)
        assert process.wait(10) == 2
        assert "ListenStream=127.0.0.1" in process.said()


def test_a_second_signal_ends_it_at_once_and_loses_nothing(world):
    world.start_proxy()
    world.insert({"text": "kept"})
    world.proxy.send_signal(signal.SIGTERM)
    world.proxy.send_signal(signal.SIGTERM)
    assert world.proxy.wait(5) in (0, 143)
    assert world.person.json("queue")["total"] == 1


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_the_units_are_valid_and_the_system_unit_is_sandboxed(tree, tmp_path):
    # The units as installed, except for the path of the program, since verify checks that it exists.
    for folder, scope in (("system", []), ("user", ["--user"])):
        units = []
        names = ["understudy.service", "understudy.socket"]
        if folder == "system":
            names.append("understudy-backend.service")
        for name in names:
            text = (tree / f"usr/lib/systemd/{folder}/{name}").read_text()
            unit = tmp_path / folder / name
            unit.parent.mkdir(exist_ok=True)
            unit.write_text(text.replace("/usr/bin/understudy", str(tree / "usr/bin/understudy")))
            units.append(unit)
        finished = subprocess.run(
            ["systemd-analyze", *scope, "verify", "--man=no", *units],
            capture_output=True,
            text=True,
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        )
        assert finished.returncode == 0 and "understudy" not in finished.stderr, finished.stderr
    for name in ("understudy.service", "understudy-backend.service"):
        finished = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--threshold=20",
             UNITS / "system" / name],
            capture_output=True, text=True,
        )
        assert finished.returncode == 0, finished.stdout[-400:]


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool")
def test_promtool_accepts_the_metrics(world):
    world.start_backend("--samples")
    world.start_proxy()
    world.person.run("sync")
    world.insert({"text": "waits"})
    requests.get(world.url + "/-/livez", headers={"Host": "elsewhere"}, timeout=5)
    text = requests.get(world.url + "/-/metrics", timeout=5).text
    finished = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True
    )
    assert finished.returncode == 0 and finished.stderr == "", finished.stderr
    assert 'understudy_queue_operations{identity="anonymous",state="queued"} 1' in text
    duration = "understudy_backend_request_duration_seconds"
    sample = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
              for line in text.splitlines() if line.startswith(duration)}
    count = sample[duration + '_count{outcome="succeeded"}']
    assert count >= 2 and sample[duration + '_bucket{outcome="succeeded",le="+Inf"}'] == count
    assert 0 < sample[duration + '_bucket{outcome="succeeded",le="5.0"}'] <= count
    assert sample[duration + '_sum{outcome="succeeded"}'] > 0


def test_readyz_has_details_with_verbose(world):
    world.start_proxy()
    brief = requests.get(world.url + "/-/readyz", timeout=5).json()
    assert [one["name"] for one in brief["checks"]] == ["stores"]
    full = requests.get(world.url + "/-/readyz?verbose", timeout=5).json()
    assert [one["name"] for one in full["checks"]] == ["stores", "backend", "sync"]
    assert full["status"] == "ok"


class Recorder(http.server.BaseHTTPRequestHandler):
    """A backend with empty tables that remembers the trace of each request."""

    def do_GET(self):
        if self.headers["traceparent"]:
            self.server.traces.append((self.headers["traceparent"], self.headers["tracestate"]))
        self._answer(b"[]")

    def do_POST(self):
        self.server.traces.append((self.headers["traceparent"], self.headers["tracestate"]))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(body)

    def _answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_clients_trace_reaches_the_backend_after_a_restart_too(world):
    backend = http.server.ThreadingHTTPServer(("127.0.0.1", world.backend_port), Recorder)
    backend.traces = []
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    try:
        world.start_proxy()
        fields = {"traceparent": trace, "tracestate": "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"}
        traced = (trace, fields["tracestate"])
        # A read that the backend answers has the trace too.
        requests.get(world.url + "/tables/todoitem?x=1", headers={**ZUMO, **fields}, timeout=10)
        assert set(backend.traces) == {traced}
        backend.traces.clear()
        world.insert({"text": "traced"}, **fields)
        world.stop(world.proxy)
        world.start_proxy()
        world.person.run("sync", expect=None)
        # The row may be read back, with the trace of its write.
        assert set(backend.traces) == {traced}
    finally:
        backend.shutdown()
        backend.server_close()


def test_clients_need_no_header_of_understudy(world):
    world.start_proxy()
    answer = requests.get(world.url + "/-/livez", headers=ZUMO, timeout=5)
    assert answer.json()["status"] == "ok"
