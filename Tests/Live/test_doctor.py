"""`understudy doctor` finds faults and gives advice."""

import contextlib
import http.server
import os
import socket
import sqlite3
import ssl
import subprocess
import threading

import pytest
import requests
from hostile import HTTPBackend
from installed import new_world
from programs import ZUMO, free_port


def findings(world, *arguments, expect=None, **environment):
    # Whether more people can log in depends on this machine, so the test does not check it.
    report = world.person.json("doctor", *arguments, expect=expect, **environment)
    for one in report["findings"]:
        assert set(one) == {"check", "state", "finding", "advice"}
        assert (one["advice"] is None) == (one["state"] == "ok"), one
    return {one["check"]: one for one in reversed(report["findings"])
            if one["state"] != "ok" and "people can log in" not in one["finding"]}


def test_without_faults_every_finding_is_ok(world):
    world.start_backend("--samples")
    world.start_proxy()
    world.person.run("sync")
    assert findings(world, expect=0) == {}
    told = world.person.run("doctor").stdout
    assert "12 items, 0 open operations" in told and "agrees with the backend's" in told


def test_a_backend_out_of_reach_is_a_warning_only(world):
    found = findings(world, expect=0)
    assert found["backend"]["state"] == "warning"
    assert "cannot be reached" in found["backend"]["finding"]


def test_a_port_in_use_is_a_problem(world):
    with socket.create_server(("127.0.0.1", world.port)):
        found = findings(world, expect=1)
    assert f"127.0.0.1:{world.port} is in use" in found["listening"]["finding"]


def test_weak_and_wrong_settings_are_found(world):
    world.configure("backend = http://backend.example\nallow-origin = null\nlisten = 1\n")
    found = findings(world, expect=1)
    assert f"{world.file}:3 listen" in found["configuration"]["finding"]
    assert "in the clear" in found["way to the backend"]["finding"]
    world.configure(f"backend = {world.backend_url}\nallow-origin = null\nallow-plain-http = yes\n")
    weak = world.person.run("doctor", expect=None).stdout
    assert "allow-plain-http is on" in weak and "many pages can claim to be" in weak


@pytest.fixture(scope="module")
def with_a_change(shared_world):
    """The home folder of an Understudy that has stopped, with a change that was not sent."""
    shared_world.start_proxy()
    shared_world.insert({"text": "not sent"})
    shared_world.stop(shared_world.proxy)
    return shared_world


@pytest.fixture
def stopped(program, with_a_change):
    """A copy of that folder, for a test to damage."""
    with new_world(program) as world:
        subprocess.run(["cp", "-a", f"{with_a_change.person.home}/.", world.person.home], check=True)
        yield world


def test_files_that_others_can_read_are_a_problem(stopped):
    world = stopped
    data = world.person.home / ".local/share/understudy"
    (data / "operator.token").chmod(0o644)
    assert "operator.token" in findings(world, expect=1)["permissions"]["finding"]


def test_a_damaged_file_of_who_has_which_store_is_a_problem(stopped):
    world = stopped
    data = world.person.home / ".local/share/understudy"
    for text in ("{}", '{"stores": [{"store": "ana-old"}]}'):
        (data / "owners").write_text(text)
        if os.geteuid() == 0:
            os.chown(data / "owners", 65534, 65534)
        (data / "owners").chmod(0o600)
        found = findings(world, expect=1)
        assert f"{data / 'owners'}, which says which users have stores" in found["sign-in"]["finding"], found


def test_a_store_of_a_newer_version_is_not_called_damaged(stopped):
    world = stopped
    store = world.person.home / ".local/share/understudy/stores/anonymous/store.sqlite"
    with sqlite3.connect(store) as file:
        file.execute("INSERT INTO grdb_migrations VALUES ('99')")
    for path in store.parent.iterdir():
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
    found = findings(world, expect=1)["store"]
    assert "newer version" in found["finding"] and "damaged:" not in found["finding"]
    assert "restore" not in found["advice"] and "Nothing is damaged" in found["advice"]


def test_a_store_without_the_right_to_write_is_not_called_damaged(stopped):
    world = stopped
    stores = world.person.home / ".local/share/understudy/stores"
    for path in [*stores.rglob("*"), stores]:
        path.chmod(path.stat().st_mode & ~0o222)
    found = findings(world, expect=1)["store"]
    assert "cannot be opened" in found["finding"] and "damaged" not in found["finding"]
    assert str(stores / "anonymous/store.sqlite") in found["finding"]
    assert "restore nothing" in found["advice"] and f"chmod -R u+rwX '{stores}'" in found["advice"]
    for words in ("status", "queue", "serve"):
        said = world.person.run(words, expect=None)
        assert said.returncode in (1, 2) and str(stores) in said.stderr, said
    for path in [stores, *stores.iterdir(), *stores.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    assert "store" not in findings(world, expect=None)


def test_what_waits_and_data_of_another_backend_are_found(world):
    world.start_backend("--samples")
    world.start_proxy()
    world.person.run("sync")
    world.insert({"text": "waits"})
    held = findings(world, expect=0)["sync"]
    assert "sync = manual" in held["finding"]
    other = findings(world, "--backend", "http://127.0.0.1:9", expect=1)["rebind"]
    assert other["finding"] == (
        f"The data of anonymous belongs to {world.backend_url}. "
        "Nothing of it is sent to http://127.0.0.1:9."
    )
    assert "serve --rebind" in other["advice"]


def test_a_damaged_store_is_a_problem(stopped):
    world = stopped
    store = world.person.home / ".local/share/understudy/stores/anonymous/store.sqlite"
    data = bytearray(store.read_bytes())
    data[4096:8192] = b"\xff" * 4096
    store.write_bytes(data)
    found = findings(world, expect=1)
    assert "restore" in found["store"]["advice"]


def test_the_wrong_generation_is_a_problem(world):
    world.start_backend("--samples")
    found = findings(world, expect=1, UNDERSTUDY_BACKEND_GENERATION="3")
    assert found["generation"]["advice"] == "Say --backend-generation 2, or auto."


class Nothing(http.server.BaseHTTPRequestHandler):
    """A server that answers but has no tables."""

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(port, handler, context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def test_an_address_without_tables_is_a_problem(world):
    with serving(world.backend_port, Nothing):
        found = findings(world, expect=1)
    assert "before /tables" in found["backend"]["advice"]


PAGE = b"<!DOCTYPE html><pre>Cannot GET</pre>"
MOVIE = b'[{"id":"a","title":"x","version":"AAAA","updatedAt":"2024-01-01T00:00:00.000Z","deleted":false}]'


def only_movies(status=404, body=PAGE, kind="text/html; charset=utf-8"):
    """A backend with a table of movies, and this answer for every other table."""

    def behave(handler, _):
        if handler.path.partition("?")[0] == "/tables/movies":
            return handler.answer(200, MOVIE)
        handler.answer(status, body, {"Content-Type": kind})

    return behave


@pytest.fixture
def movies(world):
    backend = HTTPBackend(only_movies())
    world.configure(f"backend = {backend.url}\nlisten = 127.0.0.1:{world.port}\nsync = manual\n")
    yield backend
    backend.shutdown()


def test_a_backend_without_a_table_todoitem_is_recognised(world, movies):
    for answer in ((404, PAGE, "text/html"), (404, b'{"error":"not found"}', "application/json"),
                   (404, b"", "text/plain")):
        movies.behaviour = only_movies(*answer)
        found = findings(world, expect=0)
        assert set(found) == {"tables"}, answer
        assert found["tables"]["state"] == "warning"
        assert found["tables"]["finding"] == (
            "The backend answers, and has no table todoitem. Tables seen so far: none."
        )
        for way in ("Point a client at Understudy", "--table", "what comes before /tables"):
            assert way in found["tables"]["advice"], answer


def test_doctor_asks_for_tables_that_were_read_or_are_configured(world, movies):
    with_option = findings(world, expect=0, UNDERSTUDY_TABLE="movies")
    world.start_proxy()
    assert requests.get(world.url + "/tables/movies", headers=ZUMO, timeout=10).status_code == 200
    world.person.run("sync")
    movies.requests.clear()
    assert with_option == {} and findings(world, expect=0) == {}
    told = world.person.run("doctor").stdout
    assert f"{movies.url} answers, generation 2" in told
    assert {path.partition("?")[0] for _, path, *_ in movies.requests} == {"/tables/movies"}


def test_doctor_asks_for_a_table_that_was_read_and_never_pulled(world, movies):
    world.start_proxy()
    assert requests.get(world.url + "/tables/movies", headers=ZUMO, timeout=10).status_code == 200
    assert world.person.json("status")["wantedTables"] == ["movies"]
    movies.requests.clear()
    assert findings(world, expect=0) == {}
    assert {path.partition("?")[0] for _, path, *_ in movies.requests} == {"/tables/movies"}


def test_a_table_that_is_forbidden_is_not_called_missing(world, movies):
    movies.behaviour = only_movies(403, b'{"message":"no"}', "application/json")
    found = findings(world, expect=0)
    assert found["tables"]["finding"] == (
        "The backend answers. Table todoitem cannot be listed (403). Tables seen so far: none."
    )
    found = findings(world, expect=0, UNDERSTUDY_TABLE="todoitem,movies")
    assert found["tables"]["finding"].endswith("(403). Tables seen so far: todoitem, movies.")
    alone = findings(world, expect=1, UNDERSTUDY_TABLE="todoitem")["backend"]
    assert alone["state"] == "problem" and alone["advice"].startswith("Allow GET for the table")


def test_missing_tables_are_named_next_to_existing_ones(world, movies):
    found = findings(world, expect=0, UNDERSTUDY_TABLE="todoitem,movies,actors")
    assert set(found) == {"tables"}
    assert found["tables"]["finding"] == (
        "The backend answers, and has no table todoitem, actors. Tables seen so far: movies."
    )
    assert "Correct its name" in found["tables"]["advice"]
    none = findings(world, expect=1, UNDERSTUDY_TABLE="todoitem,actors")
    assert set(none) == {"backend"}
    assert none["backend"]["finding"] == (
        f"{movies.url} answers, and has none of the tables seen so far: todoitem, actors."
    )


def test_a_table_that_requires_a_sign_in_does_not_affect_another(world, movies):
    movies.behaviour = only_movies(401, b'{"error":"sign in"}', "application/json")
    assert findings(world, expect=0, UNDERSTUDY_TABLE="private,movies") == {}
    found = findings(world, expect=0)
    assert set(found) == {"backend"} and "asks to sign in" in found["backend"]["finding"]


class Rows(http.server.BaseHTTPRequestHandler):
    """A backend with a slow clock, whose rows have only an id."""

    def do_GET(self):
        body = b'[{"id":"a","text":"x"}]'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp=None):
        return super().date_time_string(1_500_000_000)

    def log_message(self, *_):
        pass


def test_a_wrong_clock_and_rows_without_system_columns_are_found(world):
    with serving(world.backend_port, Rows):
        found = findings(world, expect=0)
    assert "ahead of the backend's" in found["clock"]["finding"]
    assert {"soft delete", "versions", "updatedAt"} <= set(found)


@pytest.fixture
def untrusted(world):
    """A backend whose certificate no authority of the system has signed; its authority is beside the settings."""
    key, certificate = world.file.parent / "key.pem", world.file.parent / "authority.pem"
    subprocess.run(
        [*("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
         *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate)],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    port = free_port()
    with serving(port, Rows, context):
        yield f"https://localhost:{port}"


def test_a_certificate_that_cannot_be_trusted_is_a_problem_and_names_the_option(world, untrusted):
    found = findings(world, "--backend", untrusted, expect=1)["TLS"]
    assert "cannot be trusted" in found["finding"] and "--backend-ca" in found["finding"]
    world.configure(f"backend = {untrusted}\nlisten = 127.0.0.1:{world.port}\nbackend-ca = authority.pem\n")
    assert "TLS" not in findings(world, expect=None), "the path begins at the file's folder"


def test_beside_an_understudy_that_runs_its_own_state_of_the_backend_counts(world, untrusted):
    world.configure(f"backend = {untrusted}\nlisten = 127.0.0.1:{world.port}\nsync = manual\n")
    world.start_proxy()
    world.insert({"text": "waits"})
    world.person.run("sync", expect=None)
    status = world.person.run("status", expect=3).stdout
    assert "not trusted" in status and "--backend-ca" in status
    # The command could reach the backend, and the one that runs cannot.
    authority = str(world.file.parent / "authority.pem")
    found = findings(world, expect=1, UNDERSTUDY_BACKEND_CA=authority)["TLS"]
    assert "--backend-ca" in found["finding"]


def test_rows_that_are_set_aside_are_named(world):
    row = b'[{"id":"a+b","version":"v","updatedAt":"2024-01-01T00:00:00.000Z","deleted":false}]'
    backend = HTTPBackend(lambda handler, _: handler.answer(200, row if "movies" in handler.path else b"[]"))
    try:
        world.configure(f"backend = {backend.url}\nlisten = 127.0.0.1:{world.port}\nsync = manual\n")
        world.start_proxy()
        requests.get(world.url + "/tables/movies", headers=ZUMO, timeout=10)
        world.person.run("sync", expect=None)
        said = "“a+b”: Its id has the character '+', which no client can name."
        assert said in findings(world, expect=0)["set aside"]["finding"]
        assert said in world.person.run("status", expect=None).stdout
        assert said in world.person.json("status", expect=None)["tables"][0]["warning"]
    finally:
        backend.shutdown()
