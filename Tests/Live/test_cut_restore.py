"""A restore that is killed at any step is finished or undone by what comes next, or a person is told what to do."""

import json
import os
import shutil
import subprocess

import pytest
from programs import BINARY, free_port
from simulated_disk import FaultyDisk


def run(folder, *words, environment=None):
    return subprocess.run([str(BINARY), *map(str, words), "--data", str(folder)], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})


@pytest.fixture
def made(start, tmp_path):
    """A folder with three changes that wait, and a backup with one of them."""
    proxy = start.proxy(f"http://127.0.0.1:{free_port()}", "--sync", "manual")
    proxy.insert({"id": "a", "text": "x"})
    backup = tmp_path / "backup"
    assert run(proxy.folder, "backup", backup).returncode == 0
    for id in "bc":
        proxy.insert({"id": id, "text": "x"})
    proxy.stop()
    return proxy, backup


def waiting(folder):
    """The changes that wait, by a command that opens the folder, and what it said on standard error."""
    listed = run(folder, "queue", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    return [one["itemId"] for one in json.loads(listed.stdout)["items"]], listed.stderr


def killed_restores(seed, folder, backup, disk):
    """Restores to copies of a folder, each killed one step later, until one is not killed."""
    step = 0
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(seed, folder)
        disk.fail("kill", 0, before=step)
        ended = run(folder, "restore", backup, "--yes", environment=disk.environment)
        disk.stop_failing()
        if ended.returncode == 0:
            return
        assert ended.returncode == -9, ended.stderr
        yield step, {path.name for path in folder.iterdir()}
        step += 1


def test_a_restore_is_finished_or_undone_wherever_it_is_killed(made, tmp_path):
    proxy, backup = made
    folder = tmp_path / "restored"
    seen = set()
    for step, names in killed_restores(proxy.folder, folder, backup, FaultyDisk(tmp_path, folder)):
        isWhole = "stores.restored" in names
        isDone = not isWhole and any(name.startswith("stores.before-") for name in names)
        assert isWhole or "stores" in names, step
        # Of steps that leave the same names, one asks what only reads.
        if (isWhole, "stores" in names) not in seen:
            doctor = run(folder, "doctor")
            assert ("was cut" in doctor.stdout) == isWhole, doctor.stdout
            copied = run(folder, "backup", tmp_path / f"copy{step}")
            assert (copied.returncode != 0) == isWhole and ("was cut" in copied.stderr) == isWhole, copied.stderr
        seen.add((isWhole, "stores" in names))
        ids, said = waiting(folder)
        assert ids == (["a"] if isWhole or isDone else ["a", "b", "c"]), step
        if isWhole:
            assert "is finished now" in said and "stores.before-" in said
        elif "stores.incoming" in names:
            assert "nothing is restored" in said
        left = {path.name for path in folder.iterdir()}
        assert not left & {"stores.incoming", "stores.restored"}
    again, said = waiting(folder)
    assert again == ids and "restore" not in said
    assert seen == {(False, True), (True, True), (True, False)}


def test_a_start_finishes_the_restore_and_says_so(made):
    proxy, backup = made
    assert run(proxy.folder, "restore", backup, "--yes").returncode == 0
    (proxy.folder / "stores").rename(proxy.folder / "stores.restored")
    proxy.start()
    assert [one["itemId"] for one in proxy.operator("GET", "/operations")["items"]] == ["a"]
    assert "A restore to " in proxy.program.output and "is finished now" in proxy.program.output


def test_missing_stores_are_never_taken_for_none(made, tmp_path):
    proxy, backup = made
    stores = proxy.folder / "stores"
    kept = proxy.folder / "stores.before-20260101000000000"
    stores.rename(kept)
    for beside in ("", "stores.incoming"):
        if beside:
            shutil.copytree(kept, proxy.folder / beside)
        for words in (("serve", "--backend", proxy.backend_url), ("queue", "list"), ("status",), ("doctor",),
                      ("backup", tmp_path / "no")):
            ended = run(proxy.folder, *words)
            assert ended.returncode not in (0, None), words
            assert f"mv {kept} {stores}" in ended.stdout + ended.stderr, (words, ended)
            assert not stores.exists()
    assert run(proxy.folder, "restore", backup, "--yes").returncode == 0
    assert waiting(proxy.folder)[0] == ["a"]
    # What the sentence says works.
    shutil.rmtree(stores)
    kept.rename(stores)
    assert waiting(proxy.folder)[0] == ["a", "b", "c"]


def test_a_cut_restore_to_an_empty_folder_is_no_empty_store(made, tmp_path):
    proxy, backup = made
    seed = tmp_path / "seed"
    seed.mkdir(mode=0o700)
    folder = tmp_path / "new"
    for step, names in killed_restores(seed, folder, backup, FaultyDisk(tmp_path, folder)):
        if "stores.restored" in names or "stores" in names:
            assert waiting(folder)[0] == ["a"]
        elif "stores.incoming" in names:
            refused = run(folder, "serve", "--backend", proxy.backend_url)
            assert refused.returncode != 0 and "restore a backup again" in refused.stderr, step
