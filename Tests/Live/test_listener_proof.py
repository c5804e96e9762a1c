"""The operator token goes only to the Understudy of the data folder, not to another listener."""

import os
import pathlib
import shutil
import signal
import socket
import stat
import tempfile
import threading

import pytest
from installed import Person, make_home, remove
from programs import BINARY, Proxy


class Squatter:
    """Listens on a port or a socket, answers everything with an empty status, and keeps every request."""

    def __init__(self, family, address):
        self.heard = b""
        self.wire = socket.socket(family)
        if family == socket.AF_INET:
            self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.wire.bind(address)
        self.wire.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.wire.accept()
            except OSError:
                return
            with client:
                self.heard += b"connected\n" + client.recv(65536)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")

    def close(self):
        if self.wire.fileno() >= 0:
            # Without this the accepting thread keeps the port.
            self.wire.shutdown(socket.SHUT_RDWR)
            self.wire.close()


@pytest.fixture
def squat():
    taken = []

    def take(*place):
        taken.append(Squatter(*place))
        return taken[-1]

    yield take
    for one in taken:
        one.close()


def on_port(proxy):
    return socket.AF_INET, ("127.0.0.1", proxy.port)


def test_after_a_crash_another_listener_on_the_port_gets_no_request_of_a_command(start, squat):
    proxy = start.proxy(start.backend().url)
    item = proxy.insert({"id": "q", "text": "queued"})
    proxy.program.stop(signal.SIGKILL)
    # The crash left the address and the file of the socket.
    assert (proxy.folder / "address").read_text() == f"{proxy.url}\n"
    assert stat.S_ISSOCK((proxy.folder / "socket").stat().st_mode)
    squatter = squat(*on_port(proxy))
    for command in (["open", "--print-only"], ["sync"], ["access", "list"], ["sessions"]):
        done = proxy.command(*command)
        assert (done.returncode, done.stdout) == (6, ""), done
        assert "No Understudy runs on" in done.stderr
    # Reads are answered from the store, and the output says so.
    status = proxy.command("status")
    assert status.returncode == 6 and "No Understudy runs" in status.stderr, status
    assert item["id"] in proxy.command("queue").stdout
    assert "Understudy does not run" in proxy.command("doctor").stdout
    assert squatter.heard == b""
    squatter.close()
    proxy.start()
    assert proxy.command("sync").returncode == 0


def test_a_changed_address_file_redirects_no_command(start, squat):
    proxy = start.proxy(start.backend().url)
    squatter = squat(socket.AF_INET, ("127.0.0.1", 0))
    (proxy.folder / "address").write_text("http://127.0.0.1:%d\n" % squatter.wire.getsockname()[1])
    for command in (["status"], ["sync"], ["queue"]):
        assert proxy.command(*command).returncode == 0
    assert squatter.heard == b""


def test_the_socket_is_private_and_removed_with_its_server(start):
    proxy = start.proxy(start.backend().url)
    place = proxy.folder / "socket"
    assert stat.S_ISSOCK(place.lstat().st_mode) and place.lstat().st_mode & 0o777 == 0o600
    assert proxy.folder.stat().st_mode & 0o777 == 0o700
    assert proxy.command("status").returncode == 0
    proxy.program.kill()
    assert place.exists()
    proxy.start()
    assert proxy.command("status").returncode == 0
    proxy.stop()
    assert not place.exists() and not (proxy.folder / "address").exists()


def test_the_socket_in_a_folder_writable_by_others_is_refused(start, squat):
    proxy = start.proxy(start.backend().url)
    proxy.program.kill()
    (proxy.folder / "socket").unlink()
    squatter = squat(socket.AF_UNIX, str(proxy.folder / "socket"))
    for mode in (0o702, 0o720):
        proxy.folder.chmod(mode)
        done = proxy.command("status")
        assert done.returncode == 2 and "chmod -R go= " in done.stderr, done
        assert done.stdout == "" and squatter.heard == b""
        looked = proxy.command("doctor")
        assert looked.returncode == 1 and "problem  permissions" in looked.stdout, looked
        assert squatter.heard == b""


def test_the_folder_of_another_user_is_refused(start):
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    proxy = start.proxy(start.backend().url)
    os.chown(proxy.folder, 65533, 65533)
    proxy.folder.chmod(0o711)
    for folder in proxy.folder.parents:
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o055)
        if folder.name.startswith("pytest-of-"):
            break

    person = Person(BINARY, make_home())
    try:
        done = person.run("status", "--data", proxy.folder, expect=None)
        assert done.returncode == 2 and "belongs to another user" in done.stderr, done
    finally:
        remove(person.home)


def test_a_folder_with_a_path_too_long_for_a_socket_works(start):
    with tempfile.TemporaryDirectory(prefix="understudy-") as folder:
        backend = start.backend()
        proxy = Proxy(pathlib.Path(folder) / ("long" * 30) / "data", backend.url)
        assert len(str(proxy.folder / "socket")) > 108
        try:
            for end in (lambda: proxy.program.kill(), proxy.stop):
                proxy.start()
                assert stat.S_ISSOCK((proxy.folder / "socket").lstat().st_mode)
                assert (proxy.folder / "socket").lstat().st_mode & 0o777 == 0o600
                done = proxy.command("status", "--json")
                assert done.returncode == 0 and '"backend"' in done.stdout, done
                end()
                assert proxy.command("sync").returncode == 6
            assert not (proxy.folder / "socket").exists()
        finally:
            proxy.program.kill()
            shutil.rmtree(proxy.folder, ignore_errors=True)
