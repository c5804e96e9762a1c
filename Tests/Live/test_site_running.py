"""How a node of a site is configured, watched, stopped and replaced: `understudy-site` with real processes."""

import base64
import concurrent.futures
import json
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import pytest
import requests
from programs import SITE, ZUMO, free_port, insert_many, wait_until
from site_access import ADMIN, files, token  # noqa: F401 (files is a fixture)

# Operations that drain through a limit, and requests a second that the limit allows: a busy machine sends more.
DRAINED = 160
DRAINED_A_SECOND = 16
ADMIN_FIELDS = {"Authorization": f"Bearer {ADMIN}"}


def logged(program):
    """The lines of a log that are JSON."""
    return [json.loads(line) for line in program.lines if line.startswith("{")]


def node(start, tmp_path, files, *more, environment=None, folder="data"):
    """A node of its own port, whose first line has come."""
    port = free_port()
    program = start.program("--listen", f"127.0.0.1:{port}", "--data", tmp_path / folder, *files,
                            "--drain", 0, *more, environment=environment, binary=SITE)
    program.url = f"http://127.0.0.1:{port}"
    wait_until(lambda: program.alive() and "backend serves" in program.output, what="the first line")
    return program


def signed(**more):
    return {**ZUMO, "X-ZUMO-AUTH": token(), **more}


def test_every_setting_may_stand_in_the_file_and_in_the_environment(start, tmp_path, files):
    port, other = free_port(), free_port()
    file = tmp_path / "backend.conf"
    written = subprocess.run([SITE, "config", "init", "--stdout"], capture_output=True,
                             text=True, check=True).stdout
    names = {line[1:].split(" = ")[0] for line in written.splitlines()
             if line.startswith("#") and " = " in line and not line.startswith("# ")}
    help = subprocess.run([SITE, "run", "--help"], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^  (--[a-z-]+(?:(?:/|, )--[a-z-]+)*)", help, re.M)
    options = {name for line in listed for name in re.findall(r"--([a-z-]+)", line)}
    only = {"config", "faults", "help", "version", "generation", "no-allow-plain-http"}
    assert options - only == names
    file.write_text(
        f"listen = 127.0.0.1:{port}\ndata = {tmp_path}/data\naccess-file = {files[1]}\n"
        f"admin-token-file = {files[3]}\ntable = books:read=anonymous\ntable = notes:per-user\n"
        "page-rows = 2\nrequests-per-second = 900\ndrain = 0\nlog-level = debug\nlog-format = json\n")
    file.chmod(0o644)
    program = start.program("--config", file, binary=SITE)
    wait_until(lambda: program.alive() and "backend serves" in program.output, what="the first line")
    url = f"http://127.0.0.1:{port}/tables/books"
    for id in "abc":
        assert requests.post(url, json={"id": id}, headers=signed()).status_code == 201
    assert len(requests.get(url, headers=ZUMO).json()) == 2
    assert requests.get(url.replace("books", "notes"), headers=ZUMO).status_code == 401
    program.stop()
    # The environment wins over the file, and a flag over both.
    environment = {"UNDERSTUDY_CONFIG": str(file), "UNDERSTUDY_LISTEN": f"127.0.0.1:{other}",
                   "UNDERSTUDY_PAGE_ROWS": "3", "UNDERSTUDY_TABLE": "books:anonymous"}
    again = start.program("--page-rows", 1, environment=environment, binary=SITE)
    wait_until(lambda: again.alive() and "backend serves" in again.output, what="the first line")
    assert len(requests.get(f"http://127.0.0.1:{other}/tables/books", headers=ZUMO).json()) == 1
    assert "unknown variable" not in again.output
    shown = json.loads(subprocess.run(
        [SITE, "config", "show", "--config", file, "--json"], capture_output=True, text=True,
        check=True, env={"UNDERSTUDY_DATABASE": "postgresql://u:secret@h/d", "PATH": "/usr/bin"}).stdout)
    values = {one["name"]: one["values"] for one in shown["settings"]}
    assert values["table"] == ["books:read=anonymous", "notes:per-user"] and values["database"] == ["(not shown)"]


@pytest.mark.parametrize("line, words", [
    ("backend = http://x", "one of the names listen"), ("lisen = 127.0.0.1:1", "perhaps listen is meant"),
    ("page-rows = 0", "a whole number from 1"), ("listen = 0.0.0.0:1", "--access-file"),
    ("default-access = disabled", "--access-file"), ("drain = 601", "from 0 to 600"),
    ("public-address = https://site.example/tables", "without a path"),
    ("tls-key = /nowhere", "say both"),
])
def test_a_file_that_cannot_be_used_says_why(tmp_path, line, words):
    file = tmp_path / "backend.conf"
    file.write_text(line + "\n")
    checked = subprocess.run([SITE, "config", "check", file], capture_output=True, text=True)
    begun = subprocess.run([SITE, "--config", file, "--data", tmp_path / "data"], capture_output=True,
                           text=True, timeout=30)
    assert (checked.returncode, begun.returncode) == (2, 2)
    assert words in checked.stdout and words in begun.stderr, (checked.stdout, begun.stderr)


def test_a_reload_names_the_settings_that_wait_for_a_restart(start, tmp_path, files):
    file = tmp_path / "backend.conf"
    file.write_text("log-level = notice\n")
    file.chmod(0o644)
    program = node(start, tmp_path, files, "--config", file)

    def reload(text, message):
        before = len(logged(program))
        file.write_text(text)
        program.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any(one["message"] == message for one in logged(program)[before:]), what=message)
        return next(one for one in logged(program)[before:] if one["message"] == message)

    done = reload("log-level = info\npage-rows = 7\ntable = books\n", "keys and certificate read again")
    assert done["waitsForRestart"] == "table page-rows"
    # The next restart would fail.
    kept = reload("page-rows = 0\n", "keys and certificate kept")
    assert "page-rows is \"0\", but must be a whole number from 1" in kept["problem"]
    done = reload("log-level = notice\n", "keys and certificate read again")
    assert done["waitsForRestart"] == ""


def test_requests_are_logged_as_json_and_counted(start, tmp_path, files, postgresql):
    program = node(start, tmp_path, files, "--database", postgresql.url, "--log-level", "debug")
    url = program.url + "/tables/todos"
    assert requests.post(url, json={"id": "a", "text": "private"}, headers=signed()).status_code == 201
    assert requests.get(url + "?$filter=text%20eq%20'private'", headers=signed()).status_code == 200
    expired = token(seconds=-90)
    assert requests.get(url, headers={**ZUMO, "X-ZUMO-AUTH": expired}).status_code == 401
    wait_until(lambda: sum(one["message"] == "request ended" for one in logged(program)) >= 3, what="three requests")
    lines = [one for one in logged(program) if one["message"] == "request ended"]
    # An answer may reach its client before the answer to the client's next request is logged, and after.
    assert sorted((one["method"], one["status"], one["path"].split("?")[0]) for one in lines[:3]) == [
        ("GET", 200, "/tables/todos"), ("GET", 401, "/tables/todos"), ("POST", 201, "/tables/todos")]
    assert all(one["milliseconds"] >= 0 and one["bytes"] > 0 for one in lines)
    assert "private" not in program.output and expired not in program.output
    assert requests.get(program.url + "/-/metrics").status_code == 401
    metrics = requests.get(program.url + "/-/metrics", headers=ADMIN_FIELDS).text
    sample = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
              for line in metrics.splitlines() if not line.startswith("#")}
    duration = "understudy_node_request_duration_seconds"
    for labels in ['table="todos",verb="insert",status="201"', 'table="todos",verb="read",status="200"',
                   'table="todos",verb="read",status="401"']:
        assert sample[f"{duration}_count{{{labels}}}"] == 1, metrics
        assert sample[f'{duration}_bucket{{{labels},le="+Inf"}}'] == 1
    assert sample['understudy_node_refused_tokens_total{reason="expired"}'] == 1
    assert sample["understudy_node_database_connections_limit"] >= 1
    assert sample["understudy_node_database_calls_total"] >= 2
    assert sample["understudy_node_database_seconds_total"] > 0
    assert sample["understudy_node_database_requests_waiting"] == 0


def test_readyz_follows_the_database_and_livez_the_process(start, tmp_path, files, postgresql):
    program = node(start, tmp_path, files, "--database", postgresql.url)
    status = lambda path: requests.get(program.url + path, timeout=30).status_code  # noqa: E731
    assert (status("/-/livez"), status("/-/readyz")) == (200, 200)
    told = lambda message: [one for one in logged(program) if one["message"] == message]  # noqa: E731
    postgresql.stop()
    assert (status("/-/livez"), status("/-/readyz")) == (200, 503)
    wait_until(lambda: told("database does not answer"), what="the warning")
    postgresql.start()
    wait_until(lambda: status("/-/readyz") == 200, what="readiness")
    wait_until(lambda: told("database answers again"), what="the notice")
    assert [("PostgreSQL" in one["problem"], one["level"]) for one in told("database does not answer")] == [
        (True, "warning")]
    assert [one["level"] for one in told("database answers again")] == ["notice"]


@pytest.mark.parametrize("storage", ["sqlite", "postgresql"])
def test_a_node_that_stops_is_not_ready_first_and_answers_what_came(start, tmp_path, files, storage, request):
    more = ["--database", request.getfixturevalue("postgresql").url] if storage == "postgresql" else []
    drain = 4  # Seconds.
    program = node(start, tmp_path, files, "--drain", drain, *more)
    other = node(start, tmp_path, files, *more, folder="other") if more else None
    url = program.url + "/tables/todos"
    stop, done, problems, cut = threading.Event(), [], [], []

    def write(name):
        number = 0
        while not stop.is_set():
            try:
                answer = requests.post(url, json={"id": f"{name}-{number}"}, headers=signed(), timeout=30)
            except requests.ConnectionError as error:
                cut.append((time.monotonic(), str(error)))
                return
            if answer.status_code == 201:
                done.append(f"{name}-{number}")
            elif answer.status_code != 503 or "Retry-After" not in answer.headers:
                problems.append(answer.text)
            number += 1

    writers = [threading.Thread(target=write, args=(f"w{number}",)) for number in range(4)]
    for writer in writers:
        writer.start()
    wait_until(lambda: len(done) > 20, what="writes")
    asked = time.monotonic()
    program.process.send_signal(signal.SIGTERM)
    ready = lambda: requests.get(program.url + "/-/readyz", timeout=5).status_code  # noqa: E731
    wait_until(lambda: ready() == 503, drain / 2, "503 of readyz")
    many = len(done)
    wait_until(lambda: len(done) > many + 10, drain / 2, "writes while the node drains")
    answer = requests.get(url, headers=signed(), timeout=5)
    assert answer.status_code == 200 and answer.headers["Connection"] == "close"
    assert program.process.wait(10) == 0
    assert time.monotonic() - asked >= drain
    stop.set()
    for writer in writers:
        writer.join()
    assert problems == []
    # No connection is refused or cut until the node has drained.
    assert [one for one in cut if one[0] < asked + drain] == []
    if other is None:
        other = node(start, tmp_path, files)
    client = requests.Session()
    client.headers.update(signed())
    for id in done:
        assert client.get(f"{other.url}/tables/todos/{id}").status_code == 200, id


@pytest.mark.parametrize("storage", ["sqlite", "postgresql"])
def test_an_older_node_beside_a_newer_schema_says_so_in_a_sentence(start, tmp_path, files, storage, request):
    if storage == "postgresql":
        database = request.getfixturevalue("postgresql")
        more = ["--database", database.url]
        node(start, tmp_path, files, *more).stop()
        database.sql("INSERT INTO understudy.schema_version VALUES (99)")
    else:
        more = []
        node(start, tmp_path, files, *more).stop()
        with sqlite3.connect(tmp_path / "data/backend.sqlite") as file:
            file.execute("PRAGMA user_version = 99")
    done = subprocess.run([SITE, "--listen", f"127.0.0.1:{free_port()}", "--data", tmp_path / "data",
                           *files, *more], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert "The database has version 99 of the schema, and this program knows" in done.stderr
    assert "Install the version that made it so, or a newer one." in done.stderr


@pytest.mark.parametrize("storage", ["sqlite", "postgresql"])
def test_versions_count_from_the_start(start, tmp_path, files, storage, request):
    """Whatever a restored backup has lost, its versions do not come again."""
    more = ["--database", request.getfixturevalue("postgresql").url] if storage == "postgresql" else []
    numbers = []
    for life in range(2):
        before = time.time_ns() // 1_000_000
        program = node(start, tmp_path, files, *more)
        url = program.url + "/tables/todos"
        answer = (requests.patch(f"{url}/a", json={"text": "y"}, headers=signed()) if life
                  else requests.post(url, json={"id": "a", "text": "x"}, headers=signed()))
        numbers.append(int(base64.b64decode(answer.json()["version"])))
        assert numbers[life] >= before, answer.text
        program.stop()
    assert numbers == sorted(set(numbers))


def test_a_node_whose_settings_say_other_ids_than_its_rows_have_does_not_start(start, tmp_path, files):
    program = node(start, tmp_path, files, "--table", "numbers:integer")
    url = program.url + "/tables/numbers"
    assert requests.post(url, json={"text": "x"}, headers=signed()).status_code == 201
    program.stop()
    done = subprocess.run([SITE, "--listen", f"127.0.0.1:{free_port()}", "--data", tmp_path / "data",
                           *files, "--table", "numbers"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert done.stderr.endswith(
        "understudy-site: The items of the table numbers have integer ids. Add the word integer to the table in the "
        "settings: --table numbers:integer.\n"), done.stderr
    # Nothing was changed.
    program = node(start, tmp_path, files, "--table", "numbers:integer")
    rows = requests.get(program.url + "/tables/numbers", headers=signed()).json()
    assert [(row["id"], row["text"]) for row in rows] == [(1, "x")]


def test_links_begin_with_the_public_address(start, tmp_path, files):
    program = node(start, tmp_path, files, "--page-rows", 1,
                   environment={"UNDERSTUDY_PUBLIC_ADDRESS": "https://site.example/"})
    url = program.url + "/tables/todos"
    made = requests.post(url, json={"id": "a"}, headers=signed(Host="site.example"))
    assert made.headers["Location"] == "https://site.example/tables/todos/a"
    assert requests.post(url, json={"id": "b"}, headers=signed()).status_code == 201
    assert requests.get(url, headers=signed()).headers["Link"] == \
        "https://site.example/tables/todos?$skip=1; rel=next"


@pytest.mark.parametrize("drain, more", [(0, []), (1, [b"EXTEND_TIMEOUT_USEC=13000000"])])
def test_the_service_manager_is_told(start, tmp_path, files, drain, more):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(10)
        program = node(start, tmp_path, files, "--drain", drain,
                       environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        assert listener.recv(4096) == b"READY=1"
        program.process.send_signal(signal.SIGHUP)
        assert listener.recv(4096).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert listener.recv(4096) == b"READY=1"
        program.process.send_signal(signal.SIGTERM)
        assert listener.recv(4096) == b"STOPPING=1"
        assert [listener.recv(4096) for _ in more] == more
        assert program.process.wait(10) == 0


def sent_by(url, user, count, threads):
    """Inserts of a user, and (status, Retry-After, body) of each."""
    def one(number):
        answer = requests.post(url, json={"id": f"{user}{number}"}, timeout=30,
                               headers={**ZUMO, "X-ZUMO-AUTH": token(user)})
        return answer.status_code, answer.headers.get("Retry-After"), answer.json()

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(count)))


def limited(program):
    """How many requests each limit of clients has refused."""
    text = requests.get(program.url + "/-/metrics", headers=ADMIN_FIELDS).text
    found = re.findall(r'^understudy_node_limited_requests_total\{reason="(\w+)"\} (\d+)$', text, re.M)
    return {reason: int(count) for reason, count in found}


def test_a_user_who_floods_takes_nothing_from_another(start, tmp_path, files):
    program = node(start, tmp_path, files, "--user-requests-per-second", 20, "--page-rows", 1000)
    url = program.url + "/tables/todoitem"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        flood = pool.submit(sent_by, url, "mallory", 400, 16)
        # At most a second's requests at once, as an honest client's.
        honest = pool.submit(sent_by, url, "ana", 20, 8)
    assert [status for status, _, _ in honest.result()] == [201] * 20
    refused = [one for one in flood.result() if one[0] != 201]
    sentence = "This user sends more requests in a second than one may. Try again later."
    assert refused and all(one == (429, "1", {"error": sentence}) for one in refused)
    assert limited(program) == {"user_rate": len(refused)}
    # What was refused was not done.
    taken = {f"mallory{number}" for number, one in enumerate(flood.result()) if one[0] == 201}
    rows = requests.get(url + "?$top=1000", headers=signed()).json()
    assert {row["id"] for row in rows} == taken | {f"ana{number}" for number in range(20)}


def test_a_user_has_so_many_requests_at_once_and_no_more(start, tmp_path, files, postgresql):
    program = node(start, tmp_path, files, "--database", postgresql.url, "--user-requests-at-once", 4,
                   "--address-requests-at-once", 7)
    url = program.url + "/tables/todoitem"
    assert sent_by(url, "first", 1, 1)[0][0] == 201
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        lock = subprocess.Popen([postgresql.bin / "psql", postgresql.url, "-XAtq"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        lock.stdin.write("BEGIN; SELECT 'locked' FROM understudy.tables FOR UPDATE;\n")
        lock.stdin.flush()
        assert lock.stdout.readline() == "locked\n"
        waiting = pool.submit(sent_by, url, "ana", 8, 8)
        wait_until(lambda: limited(program) == {"user_at_once": 4}, what="four refused")
        other = pool.submit(sent_by, url, "bob", 4, 4)
        wait_until(lambda: limited(program) == {"user_at_once": 4, "address_at_once": 1}, what="one more refused")
        lock.communicate("COMMIT;\n")
    assert sorted(status for status, _, _ in waiting.result()) == [201] * 4 + [429] * 4
    assert sorted(status for status, _, _ in other.result()) == [201] * 3 + [429]
    # Those that were answered have left.
    assert [status for status, _, _ in sent_by(url, "carl", 4, 4)] == [201] * 4


def test_a_queue_drains_whole_through_a_limit(start):
    backend = start.node("--address-requests-per-second", DRAINED_A_SECOND, "--page-rows", 1000)
    proxy = start.proxy(backend.url)
    items = [{"id": f"row{number:05}", "text": str(number)} for number in range(DRAINED)]
    insert_many(proxy, items)

    wait_until(lambda: proxy.status()["ledger"]["applied"] == DRAINED, 150, "an empty queue")
    ledger = proxy.status()["ledger"]
    assert (ledger["accepted"], ledger["applied"], ledger["balances"]) == (DRAINED, DRAINED, True), ledger
    refused = re.search(r'limited_requests_total\{reason="address_rate"\} (\d+)',
                        backend.request("GET", "/-/metrics").text)
    assert refused and int(refused[1]) > 0

    def read():
        answer = backend.request("GET", "/tables/todoitem?$top=1000&$orderby=id")
        return answer.json() if answer.status_code == 200 else None

    rows = wait_until(read, what="a permit")
    assert [(row["id"], row["text"]) for row in rows] == [(one["id"], one["text"]) for one in items]
