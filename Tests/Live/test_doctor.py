"""The doctor finds what is wrong and says what to do."""

import contextlib
import http.server
import socket
import ssl
import subprocess
import threading

from programs import free_port


def findings(world, *arguments, expect=None, **environment):
    report = world.person.json("doctor", *arguments, expect=expect, **environment)
    for one in report["findings"]:
        assert set(one) == {"check", "state", "finding", "advice"}
        assert (one["advice"] is None) == (one["state"] == "ok"), one
    return {one["check"]: one for one in reversed(report["findings"]) if one["state"] != "ok"}


def test_when_all_is_well_it_says_so(world):
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
    weak = world.person.run("doctor", expect=1).stdout
    assert "not encrypted" in weak and "many pages can claim to be" in weak


def test_files_that_others_can_read_are_a_problem(world):
    world.start_proxy()
    world.stop(world.proxy)
    data = world.person.home / ".local/share/understudy"
    (data / "operator.token").chmod(0o644)
    assert "operator.token" in findings(world, expect=1)["permissions"]["finding"]


def test_a_damaged_store_is_a_problem(world):
    world.start_proxy()
    world.insert({"text": "x"})
    world.stop(world.proxy)
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
    """Somebody who answers, but has no tables."""

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


class Rows(http.server.BaseHTTPRequestHandler):
    """A backend of long ago by its clock, whose rows have nothing but an id."""

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


def test_a_clock_that_is_off_and_rows_without_marks_are_found(world):
    with serving(world.backend_port, Rows):
        found = findings(world, expect=0)
    assert "ahead of the backend's" in found["clock"]["finding"]
    assert {"soft delete", "versions", "updatedAt"} <= set(found)


def test_a_certificate_that_cannot_be_trusted_is_a_problem(world, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [*("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
         *("-subj", "/CN=localhost", "-keyout", key, "-out", certificate)],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    port = free_port()
    with serving(port, Rows, context):
        found = findings(world, "--backend", f"https://127.0.0.1:{port}", expect=1)
    assert "cannot be trusted" in found["TLS"]["finding"]
