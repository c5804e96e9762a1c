"""Real processes for the live, contract and browser tests: the built binary, real ports, real files."""

import fcntl
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import requests

ROOT = pathlib.Path(__file__).resolve().parent.parent


def setting(name, default=None):
    """A setting of the tests by environment variable. Programs that the tests start do not get it, since it would
    be a setting of theirs; processes that pytest starts to run tests do."""
    value = os.environ.pop(name, None) or os.environ.get(f"TESTS_{name}")
    if value:
        os.environ[f"TESTS_{name}"] = value
    return value or default


BINARY = pathlib.Path(setting("UNDERSTUDY_BINARY", ROOT / ".build/release/understudy"))
# The program of a site is beside it.
SITE = BINARY.with_name("understudy-site")
OUTPUT = ROOT / "Tests/output"
ZUMO = {"ZUMO-API-VERSION": "2.0.0"}


def dashboard_files():
    """Each file of the dashboard by its path in `Public`, which is also its path below `/-/`."""
    folder = ROOT / "Public"
    return {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}


# Below the ports that Linux takes for outgoing connections and for listeners that ask for any port.
PORTS = range(20_000, 32_000)
given_ports = set()
# Each process that runs tests locks the bytes whose places are its ports. The system unlocks them at its end.
port_locks = open(pathlib.Path(tempfile.gettempdir()) / f"understudy-tests-{os.getuid()}.ports", "ab")


def free_port():
    """A free port that no other program of these tests was given, also by another process that runs tests.
    The port of a backend that cannot be reached must not become the proxy's own."""
    choice = random.SystemRandom()
    while True:
        port = choice.choice(PORTS)
        if port in given_ports:
            continue
        try:
            fcntl.lockf(port_locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        given_ports.add(port)
        return port


def wait_until(check, seconds=30.0, what="the condition"):
    """Polls until a condition holds, and returns what the check returned. Polls rarely what takes long: each poll
    costs the time of two programs."""
    began = time.monotonic()
    while True:
        found = check()
        if found:
            return found
        waited = time.monotonic() - began
        if waited > seconds:
            raise AssertionError(f"{what} did not come true within {seconds} s")
        time.sleep(min(max(0.02, waited / 20), 0.1))


def status_of(port, path):
    """The status of an answer, None where nobody answers."""
    wire = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        wire.request("GET", path, headers=ZUMO)
        return wire.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        wire.close()


class Program:
    """One running `understudy`, or `understudy-site`, with its output kept line by line."""

    def __init__(self, arguments, environment=None, launcher=(), binary=BINARY):
        """`launcher` is a command that runs the program in its own process, as prlimit does."""
        self.arguments = [*launcher, str(binary), *map(str, arguments)]
        self.process = subprocess.Popen(
            self.arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1", **(environment or {})},
        )
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.decode(errors="replace").rstrip("\n"))

    @property
    def output(self):
        """What the program has printed; all of it where the program has ended."""
        if self.process.poll() is not None:
            self._reader.join(2)
        return "\n".join(self.lines)

    def alive(self):
        if self.process.poll() is not None:
            self._reader.join(2)
            raise AssertionError(
                f"{' '.join(self.arguments)} ended with {self.process.returncode}:\n{self.output}"
            )
        return True

    def stop(self, number=signal.SIGTERM, seconds=5.0):
        """Signals, waits and returns the seconds it took to end."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(seconds)
        self._reader.join(2)
        return time.monotonic() - began

    def kill(self):
        self.stop(signal.SIGKILL)


class Tables:
    """A generation 2 client of /tables at an address, without an SDK."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()
        self.session.headers.update(ZUMO)
        self.session.trust_env = False  # No request looks for a proxy and a .netrc of the machine.

    def request(self, method, path, **options):
        return self.session.request(method, self.url + path, timeout=30, **options)

    def list(self, table="todoitem", **parameters):
        query = {k.replace("_", "$", 1) if k.startswith("_") else k: v for k, v in parameters.items()}
        answer = self.request("GET", f"/tables/{table}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def all(self, table="todoitem"):
        """Every row, page by page, whatever the page size."""
        rows = []
        while page := self.list(table, _skip=len(rows), _top=1000, _orderby="id"):
            rows += page
        return rows

    def get(self, id, table="todoitem"):
        return self.request("GET", f"/tables/{table}/{id}")

    def insert(self, item, table="todoitem"):
        answer = self.request("POST", f"/tables/{table}", json=item)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def update(self, id, changes, table="todoitem", version=None):
        headers = {"If-Match": f'"{version}"'} if version else {}
        answer = self.request("PATCH", f"/tables/{table}/{id}", json=changes, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def delete(self, id, table="todoitem"):
        answer = self.request("DELETE", f"/tables/{table}/{id}")
        assert answer.status_code in (200, 204), answer.text


def insert_many(server, items, table="todoitem", clients=16):
    """Inserts with many clients at once, so that they share each fsync; with one client in the order of the items.
    They are bare HTTP clients, which take a quarter of the time that `Tables` takes."""
    items = list(items)

    def insert(part):
        wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for item in part:
            wire.request("POST", f"/tables/{table}", json.dumps(item), {"Content-Type": "application/json", **ZUMO})
            answer = wire.getresponse()
            body = answer.read()
            assert answer.status == 201, body
        wire.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(insert, [items[first::clients] for first in range(clients)]))


def sign_in(server, name):
    """Logs in through a proxy or with a backend as an SDK does; returns a client with the token."""
    body = {"access_token": name}
    answer = requests.post(server.url + "/.auth/login/facebook", json=body, headers=ZUMO, timeout=30)
    assert answer.status_code == 200, answer.text
    client = Tables(server.url)
    client.token = answer.json()["authenticationToken"]
    client.session.headers["X-ZUMO-AUTH"] = client.token
    return client


class Backend(Tables):
    """The reference backend as its own process; `start` and `stop` keep its data and its port."""

    def __init__(self, folder, arguments=()):
        self.port = free_port()
        super().__init__(f"http://127.0.0.1:{self.port}")
        self.folder = folder
        self.arguments = arguments
        self.program = None

    def start(self):
        self.program = self._run("--listen", f"127.0.0.1:{self.port}", "--data", self.folder, *self.arguments)
        wait_until(self._answers, 30, "the backend's first answer")
        return self

    def _run(self, *arguments):
        return Program(["backend", *arguments])

    def _answers(self):
        self.program.alive()
        return status_of(self.port, "/tables/todoitem?$top=1") in (200, 400, 401, 404)

    def faults(self, *rules):
        """Sets the rules of the faults that a backend with `--faults` plays; without rules it plays none."""
        answer = self.request("PUT", "/-/faults", json={"rules": rules})
        assert answer.status_code == 200, answer.text

    def empty(self):
        """Plays no faults and forgets every row, also those that it has deleted. Starts again where a test ended
        while it was stopped."""
        if self.program.process.poll() is not None:
            self.start()
        self.faults()
        with sqlite3.connect(self.folder / "backend.sqlite") as store:
            store.execute("DELETE FROM items")
            store.execute("UPDATE tables SET seen_columns = '[]'")

    def stop(self):
        if self.program:
            self.program.stop()


class Node(Backend):
    """A node of a site: `understudy-site`."""

    def _run(self, *arguments):
        return Program(arguments, binary=SITE)


class Proxy(Tables):
    """`understudy serve` as its own process with its operator API."""

    def __init__(self, folder, backend_url, arguments=()):
        self.port = free_port()
        super().__init__(f"http://127.0.0.1:{self.port}")
        self.folder = pathlib.Path(folder)
        self.backend_url = backend_url
        # Most tests are about the queue. Their writes are answered before they are sent.
        self.standard = ("--policy", "*=local")
        self.arguments = list(arguments)
        self.environment = {}
        self.launcher = ()
        self.program = None

    def start(self, *more):
        self.program = Program(
            [
                *("serve", "--backend", self.backend_url),
                *("--listen", f"127.0.0.1:{self.port}", "--data", self.folder),
                *self.standard,
                *self.arguments,
                *more,
            ],
            self.environment,
            self.launcher,
        )
        wait_until(self._ready, 30, "/-/readyz")
        return self

    def _ready(self):
        self.program.alive()
        return status_of(self.port, "/-/readyz") == 200

    def empty(self):
        """Removes every row and every unsent change. Starts again where a test ended while it was stopped."""
        if self.program.process.poll() is not None:
            self.start()
        for table in self.status()["tables"]:
            self.operator("POST", f"/tables/{table['name']}/purge", json={"all": True, "force": True})

    def stop(self):
        if self.program:
            return self.program.stop()

    @property
    def token(self):
        return (self.folder / "operator.token").read_text().strip()

    def operator(self, method, path, expect=200, **options):
        """Calls the operator API with the token from the data folder and returns the JSON."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(
                method, self.url + "/-/api/v1" + path, headers=headers, timeout=40, **options
            )
        if expect is not None:
            assert answer.status_code == expect, f"{answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def status(self):
        return self.operator("GET", "/status")

    def asked(self):
        """How many requests the backend has answered."""
        lines = self.request("GET", "/-/metrics").text.splitlines()
        counts = [line for line in lines if line.startswith("understudy_backend_request_duration_seconds_count")]
        return sum(int(line.split()[-1]) for line in counts)

    def sync(self):
        """Push, then pull; waits for the run and returns it."""
        return self.operator("POST", "/sync?wait=30", json={})

    def command(self, *arguments):
        """Runs an `understudy` command against this proxy's data folder."""
        return subprocess.run(
            [str(BINARY), *map(str, arguments), "--data", str(self.folder)],
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
