"""The Debian package is built, checked, installed into an empty root, used, removed and purged."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from installed import World, make_home, remove
from programs import BINARY, ROOT

needs_dpkg = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("dpkg-deb"), reason="needs root and dpkg"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([ROOT / "scripts/make-deb", BINARY, folder], check=True, capture_output=True)
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
    libraries = subprocess.run(
        ["ldd", tmp_path / "usr/bin/understudy"], capture_output=True, text=True, check=True
    ).stdout
    assert "swift" not in libraries and "Foundation" not in libraries, libraries


@needs_dpkg
def test_it_installs_into_an_empty_root_works_there_and_leaves_nothing_when_purged(package):
    root = pathlib.Path(tempfile.mkdtemp(prefix="understudy-root-"))
    root.chmod(0o755)
    state = root / "var/lib/dpkg"
    for folder in ("info", "updates", "triggers"):
        (state / folder).mkdir(parents=True)
    for file in ("status", "available"):
        (state / file).touch()
    (root / "var/lib/understudy").mkdir()

    def dpkg(*arguments):
        finished = subprocess.run(
            ["dpkg", f"--root={root}", "--force-script-chrootless", "--force-depends", *arguments],
            capture_output=True,
            text=True,
        )
        assert finished.returncode == 0, finished.stderr

    dpkg("-i", package)
    world = World(root / "usr/bin/understudy", make_home())
    try:
        world.start_backend("--samples")
        world.start_proxy()
        world.insert({"text": "from the package"})
        assert world.person.json("sync")["push"]["applied"] == 1
        world.stop(world.proxy)
    finally:
        world.person.stop()
        remove(world.person.home)
    dpkg("-r", "understudy")
    assert (root / "etc/understudy/understudy.conf").exists()
    assert (root / "var/lib/understudy").exists()
    dpkg("-P", "understudy")
    left = [
        path
        for path in root.rglob("*")
        if path.is_file() and "understudy" in str(path.relative_to(root))
    ]
    assert left == [] and not (root / "var/lib/understudy").exists()
    remove(root)
