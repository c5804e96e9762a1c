"""What is kept and given back: tables, identities, backups by themselves, exports, bytes; and small help."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
import requests
from installed import NOBODY
from programs import ROOT, SITE, ZUMO, wait_until


def test_a_removal_from_this_device_is_undone_as_on_the_dashboard(world):
    """`tables remove` and the dashboard do the same: the history stays, and brings the changes back."""
    person = world.person
    world.start_backend("--samples")
    world.start_proxy()
    person.run("sync")
    rows = person.json("tables")["items"][0]["items"]
    world.insert({"text": "waits"})
    refused = person.run("tables", "remove", "todoitem", expect=1).stderr
    assert "The table has 1 change that is not on the server: say force (--force) to discard" in refused
    assert "push" not in refused
    removed = person.run("tables", "remove", "todoitem", "--force", "--yes").stdout
    (entry,) = re.findall(r"`understudy history --undo (\d+)` brings them back", removed)
    assert f"{rows + 1} rows removed from this device, 1 unsent change discarded." in removed
    kinds = [one["kind"] for one in person.json("history")["items"]]
    assert "write" in kinds, "the history of the table stays"
    undone = person.run("history", "--undo", entry).stdout
    assert "Undone: The changes are in the queue again, as they were." in undone
    assert person.json("queue", "list")["total"] == 1


def test_a_table_is_forgotten_and_comes_back_from_the_backend(world):
    person = world.person
    world.start_backend("--samples")
    world.start_proxy()
    person.run("sync")
    rows = person.json("tables")["items"][0]["items"]
    assert "--yes" in person.run("tables", "forget", "todoitem", expect=2).stderr
    world.insert({"text": "waits"})
    refused = person.run("tables", "forget", "todoitem", "--yes", expect=1)
    assert "todoitem has 1 change that is not on the server, and all of them would be lost" in refused.stderr
    assert "say force (--force)" in refused.stderr and "push" not in refused.stderr
    person.run("sync")
    removed = person.json("tables", "forget", "todoitem", "--yes")
    assert removed == {"table": "todoitem", "removed": rows + 1, "discarded": 0}
    assert person.json("tables")["items"] == []
    assert person.json("history")["items"][0]["summary"].startswith("Removed the table todoitem")
    person.run("sync")
    assert person.json("tables")["items"][0]["items"] == rows + 1
    # Without a running Understudy too.
    world.stop(world.proxy)
    assert person.json("tables", "forget", "todoitem", "--yes")["removed"] == rows + 1
    assert person.json("tables")["items"] == []


def test_a_forced_removal_gives_up_changes_and_the_ledger_counts_them(world):
    person = world.person
    world.start_proxy()
    for number in range(3):
        world.insert({"text": str(number)})
    assert person.json("tables", "forget", "todoitem", "--force", "--yes")["discarded"] == 3
    ledger = person.json("status", expect=3)["ledger"]
    assert (ledger["accepted"], ledger["discarded"], ledger["balances"]) == (3, 3, True)


def test_identities_are_listed_while_it_runs_and_while_it_does_not(world):
    person = world.person
    world.start_proxy()
    world.insert({"text": "one"})
    (running,) = person.json("identities")["items"]
    assert (running["identity"], running["state"], running["openOperations"]) == ("anonymous", "open", 1)
    world.stop(world.proxy)
    (stopped,) = person.json("identities")["items"]
    assert (stopped["openOperations"], stopped["items"]) == (1, 1) and stopped["bytes"] > 0


def test_the_version_has_the_commit_and_the_loaded_libraries(person):
    told = person.json("version")
    assert told["version"] == person.run("--version").stdout.strip()
    assert re.fullmatch(r"[0-9a-f]{12}(-changed)?|unknown", told["commit"])
    if shutil.which("git") and (ROOT / ".git").exists():
        assert told["commit"] != "unknown"
    versions = {one["name"]: one["version"] for one in told["libraries"]}
    assert {"libmicrohttpd", "SQLite", "libcurl", "zlib", "GnuTLS"} <= set(versions) and "libpq" not in versions
    of_site = subprocess.run([SITE, "version"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^libpq \d+\.\d+", of_site, re.MULTILINE)
    assert all(re.match(r"\d+\.\d+", version) for version in versions.values()), versions
    assert versions["SQLite"] in person.run("version").stdout


@pytest.fixture(scope="module")
def sampled(shared_world):
    shared_world.start_backend("--samples")
    shared_world.start_proxy()
    return shared_world


def test_quiet_prints_nothing_but_errors_and_json(sampled):
    person = sampled.person
    for words in (["sync"], ["status"], ["queue"], ["export", "--output", "all.jsonl"]):
        finished = person.run(*words, "--quiet")
        assert finished.stdout + finished.stderr == "", words
    assert (person.home / "all.jsonl").exists()
    assert person.json("status", "-q")["queue"]["queued"] == 0
    assert person.run("queue", "show", "nothing", "--quiet", expect=1).stderr


def test_a_configuration_file_is_checked_whole(person):
    file = person.home / "some.conf"

    def write(text):
        file.write_text(text)
        if os.geteuid() == 0:
            os.chown(file, NOBODY, NOBODY)

    write("backend = https://a.example\nbackup-every = 1d\nkeep-attempts = 12h\n")
    assert person.json("config", "check", file) == {"file": str(file), "problems": []}
    write("backend = https://a.example\nparallelism = many\nkeep-history = 1w\n")
    problems = person.json("config", "check", file, expect=2)["problems"]
    assert len(problems) == 2 and all(str(file) in one for one in problems)
    assert any(":2" in one and "many" in one for one in problems)
    assert any(":3" in one and "1w" in one for one in problems)
    write("no-such = 1\n")
    assert "no-such" in person.run("config", "check", file, expect=2).stdout
    write("sync = auto\n")
    assert "--backend" in person.json("config", "check", file, expect=2)["problems"][0]
    assert person.run("config", "check", file, "--quiet", expect=2).stdout == ""
    assert "There is no configuration file" in person.run("config", "check", "none", expect=2).stdout


def test_a_name_that_is_nearly_right_is_suggested(person):
    assert "Did you mean 'understudy status'?" in person.run("statsu", expect=2).stderr
    assert "Did you mean 'understudy tables list'?" in person.run("tables", "lst", expect=2).stderr
    assert "Did you mean '--json'?" in person.run("status", "--jsn", expect=2).stderr
    assert "Did you mean" not in person.run("weather", expect=2).stderr


def completions(person, words, last):
    """What the program offers the shell for the last word."""
    path = [one for one in words if not one.startswith("-")]
    dump = json.loads(person.run("--experimental-dump-help").stdout)["command"]
    for name in path:
        dump = next(one for one in dump["subcommands"] if one["commandName"] == name)
    place = f"positional@{last}"
    arguments = ["understudy", *words, ""]
    return person.run(
        "---completion", *path, "--", place, str(len(arguments) - 1), "0", *arguments,
        SAP_SHELL="bash", SAP_SHELL_VERSION="5",
    ).stdout.split()


def test_names_of_tables_are_offered_to_the_shell(sampled):
    sampled.person.run("sync")
    assert completions(sampled.person, ["tables", "remove"], 0) == ["todoitem"]
    script = sampled.person.run("--generate-completion-script", "bash").stdout
    assert "revalidate" in script and "write-through" in script


def test_an_import_comes_through_standard_input(world):
    person = world.person
    world.start_proxy()
    world.insert({"id": "a", "text": "one"})
    lines = person.run("export").stdout
    person.run("queue", "discard", "--all", "--yes")
    options = person._options({})
    options["stdin"] = subprocess.PIPE
    importing = subprocess.Popen(
        [person.program, "import", "-", "--json"], stdout=subprocess.PIPE, text=True, **options
    )
    told, _ = importing.communicate(lines, timeout=30)
    assert importing.returncode == 0 and json.loads(told)["written"] == 1


def test_a_killed_export_leaves_no_file_under_its_name(world):
    person = world.person
    world.start_proxy()
    for number in range(300):
        world.insert({"text": "x" * 2000, "number": number})
    for wait in (0, 0.02, 0.05, 0.1, 0.2):
        name = person.home / f"all-{wait}.jsonl"
        exporting = person.start("export", "--output", name)
        time.sleep(wait)
        exporting.send_signal(signal.SIGKILL)
        exporting.wait(5)
        if name.exists():
            assert json.loads(name.read_text().splitlines()[-1])["type"] == "end"
    person.run("export", "--output", "whole.jsonl")
    assert json.loads((person.home / "whole.jsonl").read_text().splitlines()[-1])["items"] == 300
    assert "File exists" in person.run("export", "--output", "whole.jsonl", expect=1).stderr
    assert not list(person.home.glob("whole.jsonl.part*"))


def test_backups_are_made_by_themselves_and_restored_by_date(world):
    person = world.person
    kept = person.home / "kept"
    world.configure(world.file.read_text() + f"backup-every = 1d\nbackup-folder = {kept}\nbackup-keep = 2\n")
    world.start_proxy()
    first = wait_until(lambda: person.json("backups")["items"], 30, "the first backup")
    world.insert({"text": "later"})
    made = person.json("backup")
    assert made["path"].startswith(str(kept)) and made["stores"][0]["openOperations"] == 1
    listed = person.json("backups")
    assert [one["path"] for one in listed["items"]] == [made["path"], first[0]["path"]]
    assert (listed["everySeconds"], listed["keep"], listed["failure"]) == (86_400, 2, None)
    assert listed["nextAt"] > listed["items"][0]["at"]
    metrics = requests.get(f"{world.url}/-/metrics", timeout=5).text
    assert "\nunderstudy_backup_failing 0\n" in metrics
    assert "\nunderstudy_last_backup_timestamp_seconds 1" in metrics
    # A third one removes the first.
    third = person.json("backup")
    assert [one["path"] for one in person.json("backups")["items"]] == [third["path"], made["path"]]
    assert not os.path.exists(first[0]["path"])
    world.insert({"text": "not in any"})
    world.stop(world.proxy)
    plan = person.json("restore", "--date", made["at"], "--dry-run")
    assert plan["backup"] == made["path"] and plan["stores"] == made["stores"]
    day = made["at"][:10]
    restored = person.json("restore", "--date", day, "--yes")
    assert restored["backup"] == third["path"]
    assert person.json("queue")["total"] == 1
    assert "No backup in" in person.run("restore", "--date", "2001-01-01", expect=1).stderr
    assert "must be a day" in person.run("restore", "--date", "yesterday", expect=2).stderr
    assert "--date" in person.run("restore", expect=2).stderr


def test_a_backup_that_fails_is_told(world):
    person = world.person
    (person.home / "taken").write_text("")
    world.configure(world.file.read_text() + f"backup-every = 1d\nbackup-folder = {person.home}/taken/b\n")
    world.start_proxy()
    wait_until(lambda: person.json("backups", expect=None)["failure"], 30, "the failure")
    assert person.run("backups", expect=1).stdout.count("The last try failed") == 1
    assert "\nunderstudy_backup_failing 1\n" in requests.get(f"{world.url}/-/metrics", timeout=5).text
    assert "backup failed" in world.proxy.said()


def test_the_status_shows_what_the_store_takes_and_how_long_it_is_kept(world):
    person = world.person
    world.configure(world.file.read_text() + "keep-attempts = 12h\nattempts-budget = 50M\n")
    world.start_proxy()
    world.insert({"text": "one"})
    storage = person.json("status", "--verbose", expect=3)["storage"]
    assert sum(one["bytes"] for one in storage["parts"]) == storage["bytes"]
    assert storage["retention"]["attemptSeconds"] == 43_200
    text = person.run("status", "--verbose", expect=3).stdout
    assert "attempts 12 hours, at most 50.0 MiB" in text and "history 30 days" in text
    # A reload takes other times over.
    world.configure(world.file.read_text().replace("12h", "1d"))
    world.proxy.send_signal(signal.SIGHUP)

    def is_taken():
        told = person.json("status", "--verbose", expect=3)["storage"]["retention"]
        return told["attemptSeconds"] == 86_400

    wait_until(is_taken, what="the reload")
    assert requests.get(f"{world.url}/tables/todoitem", headers=ZUMO, timeout=5).status_code < 500
