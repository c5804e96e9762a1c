"""Every command of the installed program: its JSON, its exit code, and what it needs to run."""

import http.server
import json
import socketserver
import stat
import subprocess
import threading

import pytest
import requests
from installed import new_world
from programs import BINARY, ROOT

# The command for each operation of the operator API. None for the sign-in, a stream of events or
# samples, and a part of another command.
COMMAND_OF = {
    "dashboard": "open", "dashboardFile": None, "dashboardFileOfView": None, "livez": None, "readyz": "doctor",
    "metrics": None, "process": "doctor", "openapi": None, "session": None, "signIn": None, "signOut": None,
    "events": None, "samples": None,
    "sessions": "sessions list", "revokeSession": "sessions revoke", "access": "access list",
    "addAccess": "access add", "revokeAccess": "access revoke", "makeLink": "open",
    "status": "status", "setMode": "offline", "settings": "settings show",
    "serverRows": "export", "setAsideRows": "tables set-aside", "removeTable": "tables forget",
    "identities": "identities", "storage": "status", "backups": "backups", "makeBackup": "backup",
    "changeSettings": "settings set", "rejections": "rejections", "sync": "sync", "push": "push",
    "runs": "runs list", "run": "runs list", "cancelRun": "runs cancel", "tables": "tables list",
    "changeTable": "tables set", "tableItems": "tables rows", "pullTable": "pull",
    "purgeTable": "purge", "operations": "queue list", "operationGroups": "queue groups",
    "retryOperations": "queue retry", "discardOperations": "queue discard",
    "operation": "queue show", "editOperation": "queue edit", "retryOperation": "queue retry",
    "discardOperation": "queue discard", "assignOperations": "queue assign",
    "importChanges": "import", "conflicts": "conflicts list",
    "resolveConflicts": "conflicts resolve-all", "conflict": "conflicts show",
    "resolveConflict": "conflicts resolve", "history": "history list", "undoDecisions": "history list",
    "undo": "history list", "sendDecisions": "sync", "operationOutcomes": "queue list",
    "rehearseBackup": "restore", "notification": "notify show", "testNotification": "notify test",
}
# Commands that keep running, or whose output is a file of another format.
WITHOUT_JSON = {"demo", "serve", "backend run", "config init", "export"}
OPEN_STATES = {"queued", "waiting", "sending", "unknown", "conflict", "quarantined"}


def commands(program):
    """Every command without subcommands, as words, with its description."""
    dump = subprocess.run(
        [program, "--experimental-dump-help"], capture_output=True, text=True, check=True
    )

    def walk(command, words):
        inner = [one for one in command.get("subcommands", []) if one["commandName"] != "help"]
        if not inner:
            yield words, command
        for one in inner:
            yield from walk(one, [*words, one["commandName"]])

    return list(walk(json.loads(dump.stdout)["command"], []))


def test_every_command_has_a_help_text(person, program):
    told = person.run("queue", "list", "--help").stdout
    assert "OVERVIEW:" in told and "USAGE:" in told and "--json" in told and "JSON: " in told
    for words, command in commands(program):
        assert command["abstract"].endswith("."), words
        for argument in command["arguments"]:
            assert argument.get("abstract"), f"{words} {argument['valueName']}"
        if " ".join(words) not in WITHOUT_JSON:
            shown = [argument["valueName"] for argument in command["arguments"] if argument["shouldDisplay"]]
            assert "json" in shown, words
            # The help shows the shape of the JSON, or names the place.
            assert "JSON: " in command["discussion"].replace("\n", " "), words


def test_every_action_of_the_dashboard_has_its_command(program):
    document = json.loads((ROOT / "Sources/Proxy/Operator/openapi.json").read_text())
    operations = {
        operation["operationId"]: operation
        for path in document["paths"].values()
        for operation in path.values()
        if isinstance(operation, dict) and "operationId" in operation
    }
    missing = set(operations) - set(COMMAND_OF)
    assert not missing, f"say by which command a person does this: {missing}"
    there = {" ".join(words) for words, _ in commands(program)}
    assert {words for words in COMMAND_OF.values() if words} <= there


def test_without_an_understudy_and_without_a_store_the_exit_code_is_6(person):
    for words in ("status", "queue", "conflicts list", "history", "export", "sync", "push",
                  "pull todoitem", "purge todoitem", "offline", "online", "open"):
        finished = person.run(*words.split(), expect=6)
        assert finished.stdout == "", words
        assert finished.stderr.startswith("understudy: No Understudy runs on"), finished.stderr


def test_wrong_use_ends_with_2_and_one_reason(person):
    for words in ("nonsense", "queue show", "queue discard", "queue retry x --all", "queue discard x --dry-run",
                  "backend --page-rows 0", "serve", "queue edit x nothing", "pull"):
        finished = person.run(*words.split(), expect=2)
        assert finished.stdout == "" and finished.stderr, finished


def test_the_json_of_every_command_while_it_runs(world):
    person = world.person
    world.start_backend("--samples")
    world.start_proxy()
    run = person.json("sync")
    assert run["state"] == "complete" and {"push", "pull", "id", "kind"} <= set(run)
    assert person.json("push")["state"] == "complete"
    assert person.json("pull", "todoitem")["pull"][0]["table"] == "todoitem"
    status = person.json("status")
    assert set(status["queue"]) == OPEN_STATES
    assert status["backend"]["state"] == "online" and status["ledger"]["balances"] is True
    assert person.json("offline", "--for", 600)["mode"] == "offline"
    item = world.insert({"text": "Buy milk"})
    page = person.json("queue")
    assert set(page) == {"items", "next", "total"} and page["total"] == 1
    operation = page["items"][0]
    assert (operation["kind"], operation["state"]) == ("insert", "queued")
    detail = person.json("queue", "show", operation["id"])
    assert set(detail) == {"summary", "payload", "base", "mine", "server", "headers", "attempts"}
    edited = person.json("queue", "edit", operation["id"], "text=Buy eggs", "complete=true")
    assert edited["operation"]["title"] == "Buy eggs"
    assert person.json("queue", "show", operation["id"])["mine"]["complete"] is True
    assert person.json("queue", "retry", operation["id"])["operation"]["id"] == operation["id"]
    dry = person.json("queue", "discard", "--all", "--table", "todoitem", "--dry-run")
    assert dry == {"matched": 1, "changed": 0, "refused": 0, "dryRun": True}
    assert person.json("queue", "retry", "--all")["matched"] == 1
    assert person.json("conflicts") == {"items": [], "next": None, "total": 0}
    assert person.json("history")["items"][0]["kind"]
    table = person.json("tables")["items"][0]
    assert (table["name"], table["items"]) == ("todoitem", 13)
    changed = person.json("tables", "set", "todoitem", "--read", "revalidate", "--conflict", "merge")
    assert (changed["readPolicy"], changed["conflictPolicy"]) == ("revalidate", "merge")
    assert person.json("runs")["items"][0]["state"]
    assert person.json("runs", "cancel", run["id"])["state"] == "complete"
    assert person.json("settings")["intervalSeconds"]
    assert person.json("settings", "set", "intervalSeconds=60")["intervalSeconds"] == 60
    assert person.json("rejections")["total"] == 0
    assert person.json("open", "--print-only")["url"].startswith(world.url)
    assert person.json("online")["mode"] == "online"
    assert person.json("sync")["push"]["applied"] == 1
    assert person.json("purge", "todoitem")["purged"] == 13
    assert {"config", "data", "stores", "token", "lock"} == set(person.json("paths"))
    assert item["id"]


def test_a_discard_needs_a_confirmation(world):
    world.start_proxy()
    world.insert({"text": "keep me"})
    person = world.person
    id = person.json("queue")["items"][0]["id"]
    for words in (["queue", "discard", id], ["queue", "discard", "--all"],
                  ["purge", "todoitem", "--force"]):
        assert "--yes" in person.run(*words, expect=2).stderr
    assert person.json("queue")["total"] == 1
    assert "cannot be edited" in person.run("queue", "edit", id, "version=1", expect=2).stderr
    assert '"type":"end"' in person.run("export", "--output", "-").stdout
    assert person.run("export", "--identity", "nobody", expect=1).stdout == ""
    assert person.json("queue", "discard", "--all", "--text", "nothing") == {
        "matched": 0, "changed": 0, "refused": 0, "dryRun": False,
    }
    assert person.json("queue", "discard", "--all", "--yes")["changed"] == 1
    assert person.json("queue")["total"] == 0
    entry = person.json("history")["items"][0]
    assert person.json("history", "--undo", entry["id"])["operation"]["state"] == "queued"


@pytest.mark.parametrize("words, path", [
    (["queue", "discard", "--all"], "/operations/discard"),
    (["conflicts", "resolve-all", "mine"], "/conflicts/resolve"),
])
def test_what_comes_after_a_plan_of_nothing_is_left_alone(tmp_path, words, path):
    plans = []

    class Handler(http.server.BaseHTTPRequestHandler):
        """A running Understudy in which an operation comes after the plan."""

        def do_GET(self):
            self.answer({})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            plans.append((self.path, body["dryRun"]))
            matched = 0 if body["dryRun"] else 1
            self.answer({"matched": matched, "changed": matched, "refused": 0, "dryRun": body["dryRun"]})

        def answer(self, value):
            text = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "address").write_text("http://127.0.0.1:1\n")
    (data / "operator.token").write_text("token\n")
    (data / "operator.token").chmod(0o600)
    with socketserver.ThreadingUnixStreamServer(str(data / "socket"), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run([str(BINARY), *words, "--json", "--data", str(data)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30)
        server.shutdown()
    assert done.returncode == 0, done
    assert json.loads(done.stdout) == {"matched": 0, "changed": 0, "refused": 0, "dryRun": False}
    assert plans == [("/-/api/v1" + path, True)]


def test_exit_codes_report_conflicts_and_refusals(world):
    person = world.person
    world.start_backend("--samples", "--faults")
    world.start_proxy()
    person.run("sync")
    person.run("status", expect=0)
    id = first_id(person)
    world.update(id, {"text": "mine"})
    world.update(id, {"text": "theirs"}, world.backend_url)
    person.run("sync", expect=4)
    person.run("status", expect=4)
    conflict = person.json("conflicts")["items"][0]
    assert person.json("conflicts", "show", conflict["id"])["mine"]["text"] == "mine"
    assert person.json("conflicts", "resolve", conflict["id"], "mine")["operation"]
    person.run("sync", expect=0)
    refuse_inserts(world, True)
    world.insert({"text": "not wanted"})
    person.run("sync", expect=5)
    assert person.json("status", expect=5)["queue"]["quarantined"] == 1
    groups = person.json("queue", "groups")["items"]
    assert [(one["state"], one["count"]) for one in groups] == [("quarantined", 1)]
    listed = person.json("queue", "list", "--reason", groups[0]["reason"])
    assert listed["total"] == 1
    refuse_inserts(world, False)
    person.run("queue", "retry", "--all", "--reason", groups[0]["reason"])
    person.run("sync", expect=0)
    world.insert({"text": "waits"})
    world.stop(world.backend)
    person.run("sync", expect=3)
    person.run("status", expect=3)
    world.stop(world.proxy)
    queue = person.json("status", expect=6)["queue"]
    assert queue["queued"] + queue["waiting"] == 1, queue


def refuse_inserts(world, yes):
    rules = [{"kind": "status", "status": 400, "methods": ["POST"]}] if yes else []
    answer = requests.put(f"{world.backend_url}/-/faults", json={"rules": rules}, timeout=5)
    assert answer.status_code < 300, answer.text


def test_many_decisions_are_made_and_undone_at_once(world):
    person = world.person
    world.start_backend("--samples")
    world.start_proxy()
    person.run("sync")
    ids = [json.loads(line)["item"]["id"]
           for line in person.run("export", "--only", "rows").stdout.splitlines()
           if '"type":"item"' in line][:3]
    for id in ids:
        world.update(id, {"text": "mine"})
        world.update(id, {"text": "theirs"}, world.backend_url)
    person.run("sync", expect=4)
    page = person.json("conflicts", "list", "--limit", 2)
    assert page["total"] == 3 and len(page["items"]) == 2
    rest = person.json("conflicts", "list", "--limit", 2, "--after", page["next"])
    assert rest["next"] is None and len(rest["items"]) == 1
    conflicts = [one["id"] for one in page["items"] + rest["items"]]
    assert person.json("conflicts", "resolve-all", "server", "--dry-run") == {
        "matched": 3, "changed": 0, "refused": 0, "dryRun": True,
    }
    assert "--yes" in person.run("conflicts", "resolve-all", "server", expect=2).stderr
    assert person.json("conflicts")["total"] == 3
    assert person.json("conflicts", "resolve-all", "server", "--yes")["changed"] == 3
    assert person.json("conflicts")["total"] == 0
    assert person.json("history", "--undo-decisions", *conflicts)["changed"] == 3
    # My side is back, as changes with the server's rows as their base.
    assert person.json("queue", "list", "--state", "queued,conflict")["total"] == 3
    none = person.run("history", "--undo-decisions", "zz", expect=1)
    assert "No decision was undone: There is no decision about it" in none.stderr
    assert person.run("conflicts", "resolve-all", "sideways", "--yes", expect=2).stderr


def first_id(person):
    for line in person.run("export", "--only", "rows").stdout.splitlines():
        line = json.loads(line)
        if line["type"] == "item":
            return line["item"]["id"]


def test_without_a_running_understudy_commands_use_the_store(world):
    person = world.person
    world.start_proxy()
    kept = world.insert({"text": "one"})
    world.insert({"text": "two"})
    world.stop(world.proxy)
    finished = person.run("status", expect=6)
    assert "2 queued" in finished.stdout and "No Understudy runs" in finished.stderr
    page = person.json("queue")
    assert [one["title"] for one in page["items"]] == ["one", "two"]
    assert person.json("queue", "edit", page["items"][0]["id"], "text=uno")["operation"]
    assert person.json("queue", "discard", page["items"][1]["id"], "--yes")["operation"] is not None
    assert person.json("history")["total"] == 4
    lines = [json.loads(line) for line in person.run("export").stdout.splitlines()]
    assert [line["type"] for line in lines[:1] + lines[-1:]] == ["export", "end"]
    person.run("sync", expect=6)
    world.start_proxy()
    listed = world.person.json("queue")
    assert [one["itemId"] for one in listed["items"]] == [kept["id"]]


def test_a_row_as_deep_as_a_client_may_write_is_exported_and_imported(world, program):
    person = world.person
    world.start_proxy()
    deepest = {"id": "deep", "list": json.loads("[" * 63 + "]" * 63), "text": "x"}
    world.insert({"id": "flat", "text": "y"})
    world.insert(deepest)
    person.run("export", "--output", "deep.jsonl")
    lines = [json.loads(line) for line in (person.home / "deep.jsonl").read_text().splitlines()]
    rows = {line["item"]["id"]: line["item"] for line in lines if line["type"] == "item"}
    assert rows["deep"]["list"] == deepest["list"] and rows["flat"]["text"] == "y"
    with new_world(program) as other:
        (other.person.home / "deep.jsonl").write_text((person.home / "deep.jsonl").read_text())
        other.start_proxy()
        assert other.person.json("import", "deep.jsonl")["written"] == 2
        assert [one["itemId"] for one in other.person.json("queue")["items"]] == ["flat", "deep"]
        export = other.person.run("export").stdout
        again = {line["item"]["id"]: line["item"] for line in map(json.loads, export.splitlines()) if line["type"] == "item"}
        assert again["deep"]["list"] == deepest["list"]


def test_an_import_refuses_two_spellings_of_one_column_and_says_so(world):
    person = world.person
    world.start_proxy()
    person.run("export", "--output", "empty.jsonl")
    first, *_ = (person.home / "empty.jsonl").read_text().splitlines()
    end = {"type": "end", "items": 2, "server": 0, "operations": 0, "history": 0}
    rows = [("a", {"a": 1, "A": 2}, "two spellings of one column"),
            ("b", {"a": 1, "ID": "x"}, "the item's id in another spelling")]
    for id, columns, words in rows:
        item = {"type": "item", "table": "todoitem", "item": {"id": id, **columns}, "ownColumns": None,
                "state": "synced"}
        good = {**item, "item": {"id": f"good-{id}", "text": "x"}}
        lines = [first, *map(json.dumps, (item, good, end))]
        (person.home / "odd.jsonl").write_text("\n".join(lines) + "\n")
        result = json.loads(person.run("import", "odd.jsonl", "--rows", "--json", expect=1).stdout)
        assert (result["written"], result["refused"]) == (1, 1), result
        assert words in result["problems"][0]["detail"], result
    assert [one["itemId"] for one in person.json("queue")["items"]] == ["good-a", "good-b"]


def test_an_export_is_imported_as_operations_and_a_second_import_changes_nothing(world, program):
    person = world.person
    world.start_backend("--samples")
    world.start_proxy()
    person.run("sync")
    world.insert({"id": "a'1", "text": "new"})
    id = first_id(person)
    world.update(id, {"text": "changed"})
    person.run("export", "--output", "all.jsonl")
    assert "make the file all.jsonl" in person.run("export", "--output", "all.jsonl", expect=1).stderr
    text = (person.home / "all.jsonl").read_text()
    assert json.loads(text.splitlines()[-1]) == {
        "type": "end", "items": 13, "server": 12, "operations": 2, "history": 2,
    }
    with new_world(program) as other:
        (other.person.home / "all.jsonl").write_text(text)
        (other.person.home / "torn.jsonl").write_text("\n".join(text.splitlines()[:-1]) + "\n")
        other.start_proxy()
        assert "no whole export" in other.person.run("import", "torn.jsonl", expect=1).stderr
        plan = other.person.json("import", "all.jsonl", "--rows", "--dry-run")
        assert plan == {"changes": 15}
        first = other.person.json("import", "all.jsonl", "--rows")
        assert (first["written"], first["present"], first["refused"]) == (13, 2, 0), first
        assert other.person.json("queue")["total"] == 13
        history = other.person.json("history", "--limit", 500)
        again = other.person.json("import", "all.jsonl", "--rows")
        assert (again["written"], again["present"]) == (0, 15), again
        assert other.person.json("history", "--limit", 500) == history
        rows = other.person.run("export", "--only", "rows").stdout
        assert '"a\'1"' in rows and '"changed"' in rows


def test_a_backup_of_a_running_understudy_can_be_restored(world):
    person = world.person
    world.start_proxy()
    kept = world.insert({"text": "in the backup"})
    backup = person.json("backup", "copy")
    assert backup["stores"][0]["openOperations"] == 1
    assert stat.S_IMODE((person.home / "copy/manifest.json").stat().st_mode) == 0o600
    assert "not empty" in person.run("backup", "copy", expect=1).stderr
    world.insert({"text": "after it"})
    assert "Another Understudy runs" in person.run("restore", "copy", "--yes", expect=2).stderr
    world.stop(world.proxy)
    assert person.json("restore", "copy", "--dry-run")["keptAside"] is None
    assert "--yes" in person.run("restore", "copy", expect=2).stderr
    aside = person.json("restore", "copy", "--yes")["keptAside"]
    assert (person.home / aside).is_dir()
    world.start_proxy()
    assert [one["itemId"] for one in person.json("queue")["items"]] == [kept["id"]]


def test_a_damaged_backup_is_refused_and_changes_nothing(world):
    person = world.person
    world.start_proxy()
    world.insert({"text": "kept"})
    person.run("backup", "copy")
    world.stop(world.proxy)
    store = person.home / "copy/stores/anonymous/store.sqlite"
    data = bytearray(store.read_bytes())
    data[8192:12288] = b"\xff" * 4096
    store.write_bytes(data)
    assert "store.sqlite" in person.run("restore", "copy", "--yes", expect=1).stderr
    assert person.json("queue")["total"] == 1


def test_doctor_has_the_settings_libraries_and_log_of_the_running_program(world):
    person = world.person
    hidden = "http://ana:geheim@127.0.0.1:1"
    world.start_proxy("--backend-proxy", hidden, "--log-level", "debug")
    for number in range(520):
        requests.get(f"{world.url}/-/livez", timeout=5)
    text = person.run("doctor", "--json", expect=None, UNDERSTUDY_LOG_LEVEL="error").stdout
    report = json.loads(text)
    assert report["findings"] and report["version"] and report["startedAt"]
    settings = {one["name"]: one for one in report["settings"]}
    # The running program's, not those of this command.
    assert settings["log-level"] == {
        "name": "log-level", "values": ["debug"], "origins": ["--log-level"]}
    assert settings["backend-proxy"]["values"] == ["http://(kept secret)@127.0.0.1:1"]
    assert settings["backend"]["values"] == [world.backend_url]
    assert "strict-sdk" not in settings
    assert [one["name"] for one in report["libraries"]][:3] == ["libmicrohttpd", "SQLite", "libcurl"]
    assert all(one["version"] for one in report["libraries"])
    assert len(report["log"]) == 500
    assert all(json.loads(line)["message"] for line in report["log"])
    token = person.home / ".local/share/understudy/operator.token"
    for secret in ("geheim", token.read_text().strip()):
        assert secret not in text
    world.stop(world.proxy)
    # Without a running program: the command's own settings, and no log.
    report = person.json("doctor", expect=None, UNDERSTUDY_LOG_LEVEL="error")
    assert report["startedAt"] is None and report["log"] == []
    assert {"name": "log-level", "values": ["error"], "origins": ["UNDERSTUDY_LOG_LEVEL"]} in report["settings"]



def test_manual_page_completions_units_and_alerts_are_installed(tree):
    installed = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    assert {
        "etc/understudy/backend.conf",
        "etc/understudy/understudy.conf",
        "usr/bin/understudy",
        "usr/bin/understudy-site",
        "usr/share/doc/understudy/OPERATIONS.md",
        "usr/share/doc/understudy/PROTOCOL.md",
        "usr/share/doc/understudy/SITE.md",
        "usr/share/doc/understudy/THIRD-PARTY-NOTICES.txt",
        "usr/share/doc/understudy/prometheus/understudy-node.rules.yml",
        "usr/share/doc/understudy/prometheus/understudy.dashboard.json",
        "usr/share/doc/understudy/prometheus/understudy.rules.yml",
        "usr/share/doc/understudy/understudy.cdx.json",
        "usr/share/doc/understudy/understudy-site.cdx.json",
        "usr/share/man/man1/understudy.1.gz",
        "usr/share/man/man1/understudy-site.1.gz",
        "usr/share/bash-completion/completions/understudy",
        "usr/share/bash-completion/completions/understudy-site",
        "usr/share/zsh/vendor-completions/_understudy",
        "usr/share/zsh/vendor-completions/_understudy-site",
        "usr/share/fish/vendor_completions.d/understudy.fish",
        "usr/share/fish/vendor_completions.d/understudy-site.fish",
        "usr/lib/systemd/system/understudy-backend.service",
        "usr/lib/systemd/system/understudy.service",
        "usr/lib/systemd/system/understudy.socket",
        "usr/lib/systemd/user/understudy.service",
        "usr/lib/systemd/user/understudy.socket",
        "usr/lib/sysusers.d/understudy-backend.conf",
    } == installed
    for name in ("understudy", "understudy-site"):
        page = subprocess.run(
            ["gzip", "-dc", tree / f"usr/share/man/man1/{name}.1.gz"],
            capture_output=True, text=True, check=True,
        ).stdout
        for words, _ in commands(tree / "usr/bin" / name):
            assert f".SS {name} {' '.join(words)}".replace("-", "\\-") in page, words
