"""The installed program, run in an empty folder by a user other than root."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import requests
from programs import BINARY, ROOT, SITE, ZUMO, free_port, wait_until

NOBODY = 65534


class Person:
    """A user with a home folder who runs commands in it."""

    def __init__(self, program, home):
        self.program = program
        self.home = pathlib.Path(home)
        self.running = []

    def _options(self, environment):
        options = {
            "cwd": self.home,
            "stdin": subprocess.DEVNULL,
            "env": {"HOME": str(self.home), "PATH": os.environ["PATH"], **environment},
        }
        if os.geteuid() == 0:
            options |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return options

    def run(self, *arguments, expect=0, **environment):
        """Runs a command to its end and returns the finished process."""
        finished = subprocess.run(
            [self.program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            **self._options(environment),
        )
        told = f"{arguments} ended with {finished.returncode}: {finished.stdout}{finished.stderr}"
        assert expect is None or finished.returncode == expect, told
        return finished

    def json(self, *arguments, expect=0, **environment):
        """The JSON that a command prints."""
        return json.loads(self.run(*arguments, "--json", expect=expect, **environment).stdout)

    def start(self, *arguments, pass_fds=(), command=None, **environment):
        """Starts a program that stays; its standard error is kept in a file."""
        log = open(self.home / f"log{len(self.running)}", "w+")
        process = subprocess.Popen(
            command or [self.program, *map(str, arguments)],
            stdout=log,
            stderr=log,
            pass_fds=pass_fds,
            **self._options(environment),
        )
        process.said = lambda: pathlib.Path(log.name).read_text()
        self.running.append(process)
        return process

    def stop(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait(5)


class World:
    """A user with a backend and an Understudy that is configured by a file."""

    def __init__(self, program, home):
        self.person = Person(program, home)
        self.port, self.backend_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.backend_url = f"http://127.0.0.1:{self.backend_port}"
        self.proxy = self.backend = None
        self.file = self.person.home / ".config/understudy/understudy.conf"
        self.configure(
            f"backend = {self.backend_url}\nlisten = 127.0.0.1:{self.port}\n"
            "sync = manual\ntable = todoitem\n"
        )

    def configure(self, text):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text)
        if os.geteuid() == 0:
            for path in [self.file, self.file.parent, self.file.parent.parent]:
                os.chown(path, NOBODY, NOBODY)

    def start_backend(self, *arguments):
        self.backend = self.person.start(
            "backend", "--listen", f"127.0.0.1:{self.backend_port}", *arguments
        )
        wait_until(lambda: answers(self.backend_url + "/tables/todoitem"), 30, "the backend")

    def start_proxy(self, *arguments, **options):
        self.proxy = self.person.start("serve", *arguments, **options)
        wait_until(lambda: answers(self.url + "/-/readyz"), 30, "the proxy")

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0, process.said()

    def insert(self, item, **headers):
        answer = requests.post(
            self.url + "/tables/todoitem", json=item, headers={**ZUMO, **headers}, timeout=10
        )
        assert answer.status_code == 201, answer.text
        return answer.json()

    def update(self, id, changes, url=None):
        answer = requests.patch(
            f"{url or self.url}/tables/todoitem/{id}", json=changes, headers=ZUMO, timeout=10
        )
        assert answer.status_code == 200, answer.text


@contextlib.contextmanager
def new_world(program):
    """A world whose programs are stopped, and whose home folder is removed, at the end."""
    world = World(program, make_home())
    try:
        yield world
    finally:
        world.person.stop()
        remove(world.person.home)


def answers(url):
    try:
        return requests.get(url, headers=ZUMO, timeout=5).status_code < 500
    except requests.ConnectionError:
        return False


def make_home():
    """A home folder that only its user can access."""
    home = tempfile.mkdtemp(prefix="understudy-home-")
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    return home


def install():
    """Installs into a new tree and returns it."""
    tree = pathlib.Path(tempfile.mkdtemp(prefix="understudy-installed-"))
    tree.chmod(0o755)
    subprocess.run(
        [ROOT / "scripts/install", BINARY, SITE],
        env={**os.environ, "PREFIX": "/usr", "DESTDIR": str(tree)},
        check=True,
        capture_output=True,
    )
    return tree


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
