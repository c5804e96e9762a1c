"""Data folders that are not the user's own: those of the system, and that of a service, as root."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from installed import NOBODY, remove

is_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


@pytest.fixture
def private(tmp_path):
    """A folder that only root may enter, like /var/lib/private."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="understudy-private-"))
    yield folder
    remove(folder)


def as_root(program, *arguments, expect=0):
    finished = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    told = f"{arguments} ended with {finished.returncode}: {finished.stdout}{finished.stderr}"
    assert expect is None or finished.returncode == expect, told
    return finished


def owners(folder):
    return {path: path.lstat().st_uid for path in [folder, *folder.rglob("*")]}


@is_root
@pytest.mark.parametrize("folder", ["/etc", "/var/lib", "/", "/usr"])
def test_nothing_is_advised_that_changes_a_folder_of_the_system(program, folder):
    for command in (["serve", "--backend", "http://127.0.0.1:9"], ["restore", "/nowhere"], ["doctor"]):
        told = as_root(program, *command, "--data", folder, expect=None)
        text = told.stdout + told.stderr
        assert told.returncode in (1, 2) and not re.search(r"chmod|chown", text), text


def test_a_folder_with_files_of_others_is_not_closed_as_a_whole(person):
    folder = person.home / "mine"
    folder.mkdir(0o755)
    (folder / "photo.jpg").write_text("x")
    for path in (folder, folder / "photo.jpg"):
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    told = person.run("serve", "--backend", "http://127.0.0.1:9", "--data", folder, expect=2).stderr
    assert "is open to other users" in told and "chmod" not in told and "--data" in told


@is_root
def test_root_administers_the_folder_of_a_stopped_service(world, private, tmp_path):
    world.start_proxy()
    world.insert({"id": "kept", "text": "kept"})
    world.stop(world.proxy)
    program = world.person.program
    home = world.person.home / ".local/share/understudy"
    data = private / "understudy"
    shutil.move(home, data)

    def run(*arguments, expect=0):
        return as_root(program, *arguments, "--data", data, expect=expect)

    assert "1 queued" in run("status", expect=6).stdout
    assert "kept" in run("queue").stdout
    assert run("history").returncode == 0
    assert '"kept"' in run("export").stdout
    found = run("doctor", "--backend", world.backend_url, expect=None).stdout
    assert "problem  permissions" not in found and "problem  store" not in found, found
    run("backup", tmp_path / "copy")
    run("restore", tmp_path / "copy", "--yes")
    exported = tmp_path / "export.jsonl"
    exported.write_text(run("export").stdout)
    run("import", exported)
    assert set(owners(data).values()) == {NOBODY}, owners(data)
    assert (tmp_path / "copy").stat().st_uid == 0

    # A start as root would leave files that the service cannot use.
    told = run("serve", "--backend", world.backend_url, expect=2).stderr
    assert f"sudo -u '#{NOBODY}'" in told and "chown" not in told

    shutil.move(data, home)
    world.start_proxy()
    assert world.person.json("queue")["total"] == 1
    # Beside the running service too.
    assert "1 no clear answer, checking" in as_root(program, "status", "--data", home, expect=3).stdout
    looked = as_root(program, "doctor", "--data", home, "--backend", world.backend_url, expect=None).stdout
    assert "problem" not in looked.replace("0 problems", ""), looked


@is_root
def test_a_link_in_the_folder_leads_root_to_no_file_that_its_owner_cannot_change(world, tmp_path):
    world.start_proxy()
    world.stop(world.proxy)
    data = world.person.home / ".local/share/understudy"
    store = data / "stores/anonymous/store.sqlite"
    for suffix in ("-wal", "-shm"):
        pathlib.Path(f"{store}{suffix}").unlink(missing_ok=True)
    os.symlink(tmp_path / "planted", f"{store}-wal")
    as_root(world.person.program, "queue", "--data", data, expect=None)
    assert not (tmp_path / "planted").exists()
