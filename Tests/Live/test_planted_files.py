"""Files that another user may have planted: targets of backups, backups, configurations, imports."""

import hashlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess

import pytest
import requests
from programs import BINARY, ZUMO, sign_in


def make(start):
    """A proxy with a row that was not sent."""
    proxy = start.proxy(start.backend().url, "--sync", "manual")
    proxy.insert({"id": "mine", "text": "mine"})
    return proxy


@pytest.fixture(scope="module")
def original(start_shared):
    """A proxy that has stopped, and a backup of it beside its data folder."""
    proxy = make(start_shared)
    assert proxy.command("backup", proxy.folder.parent / "copy").returncode == 0
    proxy.stop()
    return proxy


@pytest.fixture
def proxy(start, original):
    """A proxy that has stopped."""
    proxy = start.proxy_later(original.backend_url, "--sync", "manual")
    shutil.copytree(original.folder, proxy.folder)
    return proxy


@pytest.fixture
def running(proxy):
    """A proxy that runs and has its store open."""
    proxy.start()
    assert proxy.get("mine").status_code == 200
    return proxy


@pytest.fixture
def copy(original, tmp_path):
    """A backup of the proxy."""
    return shutil.copytree(original.folder.parent / "copy", tmp_path / "copy")


# Files of the data folder.


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize(
    "file",
    ["operator.token", "policies", "tokens", "address", "sessions", "stores/index.sqlite",
     "stores/anonymous/store.sqlite", "stores/anonymous/store.sqlite-wal"])
def test_a_start_refuses_what_is_no_regular_file(proxy, file, kind):
    """Opening a pipe would wait for a writer for ever."""
    kept = proxy.folder / file
    kept.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(kept, 0o600)
    elif kind == "device":
        kept.symlink_to("/dev/zero")
    else:
        # The whole path may be too long to bind.
        parent = os.open(kept.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(f"/proc/self/fd/{parent}/{kept.name}")
        os.close(parent)
        kept.chmod(0o600)
    for command in (["serve", "--backend", "http://127.0.0.1:9", "--listen", "127.0.0.1:0"], ["status"], ["queue", "list"]):
        done = subprocess.run(
            [BINARY, *command, "--data", proxy.folder], capture_output=True, text=True, timeout=20,
            stdin=subprocess.DEVNULL)
        assert done.returncode != 0, done
        assert str(kept) in done.stderr and ("regular file" in done.stderr or "other users" in done.stderr), done


@pytest.mark.parametrize("file", ["policies", "stores/anonymous/store.sqlite"])
def test_a_pipe_that_is_planted_later_fails_a_backup_at_once(running, tmp_path, file):
    (running.folder / file).unlink(missing_ok=True)
    os.mkfifo(running.folder / file, 0o600)
    done = running.command("backup", tmp_path / "copy")
    assert done.returncode != 0 and "regular file" in done.stderr, done
    assert not (tmp_path / "copy").exists()
    assert running.get("mine").json()["text"] == "mine"


# What a backup writes to.


def test_a_backup_is_a_new_folder_for_this_user_alone(running, tmp_path):
    for target in ("new", "deep/er/new", "slash/"):
        assert running.command("backup", tmp_path / target if target[-1] != "/" else f"{tmp_path}/{target}").returncode == 0
        folder = tmp_path / target
        assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "policies", "stores"]
        for path in [folder, *folder.rglob("*")]:
            assert path.lstat().st_mode & 0o077 == 0, path
    (tmp_path / "empty").mkdir()
    assert running.command("backup", tmp_path / "empty").returncode == 0
    assert (tmp_path / "empty").stat().st_mode & 0o777 == 0o700
    assert not [path for path in tmp_path.rglob("*.part*")]


@pytest.mark.parametrize("victim", ["there", "not-there"])
def test_a_backup_does_not_follow_a_link_in_the_place_of_its_folder(running, tmp_path, victim):
    (tmp_path / "there").mkdir()
    (tmp_path / "copy").symlink_to(tmp_path / victim)
    for name in ("copy", "copy/"):
        done = running.command("backup", f"{tmp_path}/{name}")
        assert done.returncode == 1 and "link" in done.stderr, done
    assert list((tmp_path / "there").iterdir()) == [] and not (tmp_path / "not-there").exists()
    assert os.readlink(tmp_path / "copy") == str(tmp_path / victim)


def test_a_backup_writes_nothing_into_a_folder_that_holds_a_planted_link(running, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "manifest.json.new").symlink_to(victim)
    done = running.command("backup", copy)
    assert done.returncode == 1 and "not empty" in done.stderr
    assert victim.read_text() == "precious" and [path.name for path in copy.iterdir()] == ["manifest.json.new"]


def test_a_backup_carries_no_token_fingerprints(start, tmp_path):
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url)
    ana = sign_in(proxy, "ana")
    ana.insert({"text": "x"})
    assert (proxy.folder / "tokens").exists()
    assert proxy.command("backup", tmp_path / "copy").returncode == 0
    assert not (tmp_path / "copy/tokens").exists()


# What a restore takes.


def tamper(copy, *statements):
    """Changes the store of a backup, and makes its manifest match."""
    store = copy / "stores/anonymous/store.sqlite"
    with sqlite3.connect(store) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["stores"][0]["bytes"] = store.stat().st_size
    (listed,) = (one for one in manifest["files"] if one["name"] == "stores/anonymous/store.sqlite")
    listed.update(bytes=store.stat().st_size, sha256=hashlib.sha256(store.read_bytes()).hexdigest())
    (copy / "manifest.json").write_text(json.dumps(manifest))


def schema(store, kind):
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        return {row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = ?", [kind])}


def restored(proxy, copy):
    done = proxy.command("restore", copy, "--yes")
    assert done.returncode == 0, done
    return proxy.folder / "stores/anonymous/store.sqlite"


def test_a_restore_has_every_row_operation_and_history_entry(start, tmp_path):
    proxy = make(start)
    proxy.sync()
    proxy.update("mine", {"text": "changed"})
    proxy.insert({"id": "second", "text": "two"})
    before = proxy.all()
    history = proxy.operator("GET", "/history")["items"]
    last = proxy.operator("GET", "/operations?state=all")["items"]
    copy = tmp_path / "copy"
    assert proxy.command("backup", copy).returncode == 0
    proxy.stop()
    store = proxy.folder / "stores/anonymous/store.sqlite"
    kinds = {kind: schema(store, kind) for kind in ("table", "index", "trigger", "view")}
    was = {path: path.read_bytes() for path in proxy.folder.rglob("*") if path.is_file()}
    dry = proxy.command("restore", copy, "--dry-run")
    assert dry.returncode == 0 and "anonymous: 2 items, 2 open operations" in dry.stdout, dry
    assert {path: path.read_bytes() for path in proxy.folder.rglob("*") if path.is_file()} == was
    restored(proxy, copy)
    assert {kind: schema(store, kind) for kind in kinds} == kinds
    proxy.start()
    strip = lambda rows: [{**row, "updatedAt": None} for row in rows]
    assert strip(proxy.all()) == strip(before)
    assert proxy.operator("GET", "/history")["items"] == history
    after = proxy.operator("GET", "/operations?state=all")["items"]
    assert [one["id"] for one in after] == [one["id"] for one in last]
    assert proxy.sync()["state"] == "complete"
    assert proxy.status()["ledger"]["balances"]


def test_a_restore_refuses_a_view_in_the_place_of_a_table(proxy, copy):
    """The view has endless rows."""
    tamper(
        copy,
        "ALTER TABLE table_counters RENAME TO real_counters",
        "CREATE VIEW table_counters AS WITH RECURSIVE n(table_id) AS (SELECT 1 UNION ALL SELECT table_id + 1 FROM n) "
        "SELECT table_id, 0 AS last_stamp, 0 AS live_items, 0 AS next_provisional_id FROM n",
    )
    done = proxy.command("restore", copy, "--yes")
    assert done.returncode == 1 and "table_counters is a view, not a table" in done.stderr, done
    proxy.start()
    assert proxy.get("mine").json()["text"] == "mine"


def test_a_restore_takes_no_token_fingerprints(start, tmp_path):
    """The fingerprint of the attacker's own token, written beside Alice's key, opened Alice's rows."""
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url, "--sync", "manual")
    alice, mallory = sign_in(proxy, "alice"), sign_in(proxy, "mallory")
    alice.insert({"id": "diary", "text": "Alice's"})
    mallory.insert({"id": "m", "text": "Mallory's"})
    assert proxy.command("backup", tmp_path / "copy").returncode == 0
    proxy.stop()
    known = (proxy.folder / "tokens").read_text()
    (alices,) = [one.name for one in (proxy.folder / "stores").iterdir() if "alice" in one.name]
    (mallorys,) = [one.name for one in (proxy.folder / "stores").iterdir() if "mallory" in one.name]
    assert mallorys in known
    (tmp_path / "copy/tokens").write_text(known.replace(mallorys, alices))
    (tmp_path / "copy/tokens").chmod(0o600)
    assert proxy.command("restore", tmp_path / "copy", "--yes").returncode == 0
    assert (proxy.folder / "tokens").read_text() == known
    backend.stop()
    proxy.start()
    rows = requests.get(
        proxy.url + "/tables/todoitem", headers={**ZUMO, "X-ZUMO-AUTH": mallory.token}, timeout=10
    )
    assert "Alice" not in rows.text, rows.text
    # A folder that never saw the tokens takes none of them.
    other = start.proxy(backend.url, folder="other")
    other.stop()
    assert other.command("restore", tmp_path / "copy", "--yes").returncode == 0
    assert not (other.folder / "tokens").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tables SET name = 'todo' || char(10) || 'item'",
        "UPDATE tables SET name_key = 'todo' || char(10) || 'item'",
        "UPDATE items SET id = 'mi' || char(10) || 'ne'",
        "UPDATE items SET id = 'mi' || char(27) || '[2J'",
    ],
)
def test_a_restore_refuses_names_with_line_breaks(proxy, copy, statement):
    tamper(copy, statement)
    for option in ("--dry-run", "--yes"):
        done = proxy.command("restore", copy, option)
        assert done.returncode == 1 and "has a" in done.stderr and "can have" in done.stderr, done
    proxy.start()
    assert proxy.get("mine").json()["text"] == "mine"


@pytest.mark.parametrize("key", ["new\nline", "../up", ".", "", "UPPER", "a" * 66])
def test_a_restore_refuses_an_identity_that_is_no_key(proxy, copy, key):
    manifest = json.loads((copy / "manifest.json").read_text())
    if key not in (".", ""):
        (copy / "stores/anonymous").rename(copy / "stores" / key)
    manifest["stores"][0]["identity"] = key
    (copy / "manifest.json").write_text(json.dumps(manifest))
    done = proxy.command("restore", copy, "--yes")
    assert done.returncode == 1 and "cannot be understood" in done.stderr, done
    made = sorted(path.name for path in (proxy.folder / "stores").iterdir() if path.is_dir())
    assert made == ["anonymous"]


def test_a_manifest_without_an_end_is_refused(proxy, copy):
    (copy / "manifest.json").unlink()
    (copy / "manifest.json").symlink_to("/dev/zero")
    done = proxy.command("restore", copy, "--yes")
    assert done.returncode == 1 and "no whole backup" in done.stderr, done


@pytest.mark.parametrize(
    "file", ["manifest.json", "policies", "stores/anonymous/store.sqlite", "stores/anonymous/store.sqlite-wal"])
def test_a_pipe_in_the_place_of_a_file_of_a_backup_is_refused(proxy, copy, file):
    """Opening the pipe would wait for a writer for ever."""
    (copy / file).unlink(missing_ok=True)
    os.mkfifo(copy / file)
    for option in ("--dry-run", "--yes"):
        done = proxy.command("restore", copy, option)
        assert done.returncode == 1 and "no regular file" in done.stderr, done
    proxy.start()
    assert proxy.get("mine").json()["text"] == "mine"


@pytest.mark.parametrize(
    "file", ["manifest.json", "policies", "stores/anonymous/store.sqlite", "stores/anonymous/store.sqlite-wal",
             "stores/anonymous", "stores"])
def test_a_restore_follows_no_link_in_a_backup(proxy, copy, tmp_path, file):
    there, elsewhere = copy / file, tmp_path / "elsewhere"
    if there.exists():
        there.rename(elsewhere)
    else:
        elsewhere.write_bytes(b"")
    there.symlink_to(elsewhere)
    for option in ("--dry-run", "--yes"):
        done = proxy.command("restore", copy, option)
        assert done.returncode == 1, done
        assert f"{there} is no " in done.stderr or "manifest.json is no regular file" in done.stderr, done
    assert {path.name for path in (proxy.folder / "stores").iterdir() if path.is_dir()} == {"anonymous"}


def test_a_backup_follows_no_link_to_a_secret(proxy, tmp_path):
    (proxy.folder / "policies").unlink(missing_ok=True)
    (proxy.folder / "policies").symlink_to(proxy.folder / "operator.token")
    done = proxy.command("backup", tmp_path / "new")
    assert done.returncode == 1 and f"{proxy.folder}/policies" in done.stderr and "a link" in done.stderr, done
    assert not (tmp_path / "new").exists()


def test_a_try_of_a_backup_reads_no_secret_that_a_link_leads_to(running):
    made = running.operator("POST", "/backups", expect=None)
    (kept,) = (running.folder / "backups").iterdir()
    (kept / "policies").unlink(missing_ok=True)
    (kept / "policies").symlink_to(running.folder / "operator.token")
    path = f"/backups/{running.operator('GET', '/backups')['items'][0]['at']}"
    answer = running.operator("POST", f"{path}/rehearse", expect=409)
    assert running.token not in json.dumps(answer), made
    assert "policies is no regular file" in answer["detail"], answer


# Whose configuration is obeyed.


def test_a_configuration_that_others_can_change_is_refused(start, tmp_path):
    proxy = make(start)
    file = tmp_path / "understudy.conf"
    file.write_text(f"data = {proxy.folder}\n")
    for mode in (0o602, 0o620, 0o666):
        file.chmod(mode)
        done = proxy.command("status", "--config", file)
        assert done.returncode == 2 and "chmod go-w" in done.stderr, done
        told = proxy.command("serve", "--backend", proxy.backend_url, "--config", file)
        assert told.returncode == 2 and "chmod go-w" in told.stderr, told
    file.chmod(0o644)
    assert proxy.command("status", "--config", file).returncode == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_configuration_of_another_user_is_refused(proxy, tmp_path):
    file = tmp_path / "understudy.conf"
    file.write_text("")
    os.chown(file, 65534, 65534)
    done = proxy.command("status", "--config", file)
    assert done.returncode == 2 and "belongs to another user" in done.stderr, done
    link = tmp_path / "link.conf"
    link.symlink_to(file)
    assert proxy.command("status", "--config", link).returncode == 2


def test_a_pipe_as_configuration_is_refused(proxy, tmp_path):
    pipe = tmp_path / "understudy.conf"
    os.mkfifo(pipe, 0o600)
    done = proxy.command("status", "--config", pipe)
    assert done.returncode == 2 and f"{pipe} is no regular file" in done.stderr, done


# What an import reads.


def test_an_import_of_a_pipe_without_a_writer_ends(running, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = running.command("import", pipe)
    assert done.returncode == 1 and "Nothing was imported" in done.stderr, done


def test_an_import_reads_an_export_through_a_pipe(running, tmp_path):
    """The writer pauses between two pieces."""
    assert running.command("export", "--output", tmp_path / "export").returncode == 0
    text = (tmp_path / "export").read_bytes()
    reader, writer = os.pipe()
    child = subprocess.Popen(
        [str(BINARY), "import", "/dev/stdin", "--dry-run", "--data", str(running.folder)],
        stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    os.close(reader)
    with open(writer, "wb", buffering=0) as end:
        end.write(text[:10])
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=1)
        end.write(text[10:])
    output, _ = child.communicate(timeout=30)
    assert child.returncode == 0 and b"1 changes would be made" in output, output


def test_an_import_of_a_device_without_an_end_ends(running):
    done = running.command("import", "/dev/zero")
    assert done.returncode == 1, done
    assert "/dev/zero:1 has more than 64 MiB in one line" in done.stderr and "Nothing was imported" in done.stderr


def test_an_import_of_a_pipe_that_never_ends_a_line_ends(running, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.fork()
    if writer == 0:
        try:
            with open(pipe, "wb") as end:
                end.write(b'{"type":"item"}\n')
                while True:
                    end.write(b"a" * 65536)
        finally:
            os._exit(0)
    try:
        done = running.command("import", pipe)
        assert done.returncode == 1 and f"{pipe}:2 has more than 64 MiB" in done.stderr, done
    finally:
        os.kill(writer, 9)
        os.waitpid(writer, 0)
