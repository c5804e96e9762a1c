"""The Debian package is built, checked, installed into an empty root, used, removed and purged."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
import requests
from installed import World, answers, make_home, remove
from programs import BINARY, ROOT, SITE, ZUMO, free_port, wait_until

needs_dpkg = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("dpkg-deb"), reason="needs root and dpkg"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([ROOT / "scripts/make-deb", BINARY, SITE, folder], check=True, capture_output=True)
    (package,) = folder.glob("*.deb")
    return package


@pytest.mark.skipif(not shutil.which("lintian"), reason="needs lintian")
def test_lintian_finds_no_errors(package):
    finished = subprocess.run(
        ["lintian", "--no-cfg", "--allow-root", "--fail-on", "error", package],
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout
    assert "\nE: " not in "\n" + finished.stdout


def test_the_program_needs_no_swift(package, tmp_path):
    subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    for name in ("understudy", "understudy-site"):
        libraries = subprocess.run(
            ["ldd", tmp_path / "usr/bin" / name], capture_output=True, text=True, check=True
        ).stdout
        assert "swift" not in libraries and "Foundation" not in libraries, libraries


class Machine:
    """An empty root into which packages are installed."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="understudy-root-"))
        self.root.chmod(0o755)
        state = self.root / "var/lib/dpkg"
        for folder in ("info", "updates", "triggers"):
            (state / folder).mkdir(parents=True)
        for file in ("status", "available"):
            (state / file).touch()
        self.data = self.root / "var/lib/understudy"
        self.data.mkdir(mode=0o700)
        self.program = self.root / "usr/bin/understudy"

    def dpkg(self, *arguments):
        finished = subprocess.run(
            ["dpkg", f"--root={self.root}", "--force-script-chrootless", "--force-depends", *arguments],
            capture_output=True,
            text=True,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stderr

    def left(self):
        return [
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.is_file() and "understudy" in str(path.relative_to(self.root))
        ]


@pytest.fixture
def machine():
    machine = Machine()
    yield machine
    remove(machine.root)


@needs_dpkg
def test_it_installs_into_an_empty_root_works_there_and_leaves_nothing_when_purged(package, machine):
    machine.dpkg("-i", package)
    world = World(machine.program, make_home())
    try:
        world.start_backend("--samples")
        world.start_proxy()
        world.insert({"text": "from the package"})
        assert world.person.json("sync")["push"]["applied"] == 1
        world.stop(world.proxy)
    finally:
        world.person.stop()
        remove(world.person.home)
    machine.dpkg("-r", "understudy")
    assert (machine.root / "etc/understudy/understudy.conf").exists()
    assert machine.data.exists()
    machine.dpkg("-P", "understudy")
    assert machine.left() == [] and not machine.data.exists()


def write(program, data, count):
    """Starts the program on a data folder without a backend, and inserts that many items."""
    port = free_port()
    process = subprocess.Popen(
        [program, "serve", "--backend", f"http://127.0.0.1:{free_port()}", "--data", data]
        + ["--listen", f"127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(url + "/-/readyz"), 20, "the proxy")
    for number in range(count):
        assert requests.post(
            url + "/tables/todoitem", json={"text": str(number)}, headers=ZUMO, timeout=10
        ).ok
    process.terminate()
    assert process.wait(10) == 0


@needs_dpkg
def test_a_purge_keeps_changes_that_the_backend_does_not_have(package, machine):
    machine.dpkg("-i", package)
    write(machine.program, machine.data, 3)
    machine.dpkg("-r", "understudy")
    told = machine.dpkg("-P", "understudy")
    assert "does not have: 3." in told
    assert (machine.data / "stores/anonymous/store.sqlite").exists()
    # The package comes back, the changes are given up, and the next purge removes the folder.
    machine.dpkg("-i", package)
    subprocess.run(
        [machine.program, "queue", "discard", "--all", "--yes", "--data", machine.data],
        check=True,
        capture_output=True,
    )
    machine.dpkg("-P", "understudy")
    assert machine.left() == [] and not machine.data.exists()


@needs_dpkg
def test_a_purge_keeps_stores_that_cannot_be_counted(package, machine):
    machine.dpkg("-i", package)
    write(machine.program, machine.data, 1)
    (machine.data / "stores/anonymous/store.sqlite").write_bytes(b"not a store" * 1000)
    told = machine.dpkg("-P", "understudy")
    assert "does not have: unknown." in told
    assert (machine.data / "stores/anonymous/store.sqlite").exists()


@needs_dpkg
def test_a_purge_keeps_the_store_of_a_user_that_cannot_be_counted(package, machine):
    machine.dpkg("-i", package)
    write(machine.program, machine.data, 0)
    damaged = machine.data / "stores/ana-0123456789abcdef/store.sqlite"
    damaged.parent.mkdir(mode=0o700)
    damaged.touch(mode=0o600)
    damaged.write_bytes(b"not a store" * 1000)
    told = machine.dpkg("-P", "understudy")
    assert "does not have: unknown." in told
    assert damaged.exists()


@needs_dpkg
def test_a_purge_keeps_the_stores_that_a_restore_kept_aside(package, machine):
    machine.dpkg("-i", package)
    write(machine.program, machine.data, 1)
    aside = machine.data / "stores.before-20261121"
    (machine.data / "stores").rename(aside)
    told = machine.dpkg("-P", "understudy")
    assert "does not have: unknown." in told
    assert (aside / "anonymous/store.sqlite").exists()


@needs_dpkg
def test_a_purge_without_a_count_removes_no_data(package, machine):
    """dpkg does not ask a package that was unpacked and never configured."""
    machine.dpkg("--unpack", package)
    write(machine.program, machine.data, 1)
    told = machine.dpkg("-P", "understudy")
    assert "does not have: unknown." in told
    assert (machine.data / "stores/anonymous/store.sqlite").exists()
