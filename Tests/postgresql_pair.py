"""A primary of PostgreSQL and its synchronous standby, as a site runs them: fsync is on, and a commit is
answered when both servers have it on disk. Their files are in a temporary folder, and another user runs them
where the tests run as root."""

import shutil
import subprocess

from postgresql import INITDB, folder_and_prefix, programs
from programs import free_port

SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 60
shared_buffers = 32MB
wal_keep_size = 256MB
wal_retrieve_retry_interval = 100ms
wal_receiver_status_interval = 1s
synchronous_commit = on
"""
# Each is the standby of the other one. `*` would also take pg_basebackup for a standby.
NAMES = ("one", "two")
SYNCHRONOUS = f"synchronous_standby_names = 'FIRST 1 ({', '.join(NAMES)})'\n"


class Server:
    """One server with its own folder and port."""

    def __init__(self, pair, name):
        self.pair = pair
        self.name = name
        self.port = free_port()
        self.data = pair.folder / name

    def start(self):
        # pg_ctl's child keeps what it inherits, so nothing of it is a pipe.
        log = self.pair.folder / f"{self.name}.log"
        done = self.pair.run("pg_ctl", "-D", self.data, "-w", "-t", 30, "-l", log, "start", check=False)
        assert done == 0, log.read_text()[-4000:]

    def stop(self, mode):
        """`fast` ends sessions and writes a checkpoint; `immediate` is as a crash."""
        self.pair.run("pg_ctl", "-D", self.data, "-w", "-t", 30, "-m", mode, "stop")

    def sql(self, statement):
        """What a statement gives, as psql writes it."""
        url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        command = [str(self.pair.bin / "psql"), url, "-v", "ON_ERROR_STOP=1", "-XAtc", statement]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def copy(self, primary):
        """Becomes a standby with a fresh copy of the primary."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={self.name}"
        self.pair.run("pg_basebackup", "-D", self.data, "-d", source, "-R", "-c", "fast", "--no-sync")
        self.configure()

    def configure(self):
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write(f"port = {self.port}\n")


class PostgreSQLPair:
    """Two servers; `primary` takes writes, `standby` follows it."""

    def __init__(self, synchronous=True):
        self.bin = programs()
        self.folder, self.prefix = folder_and_prefix("pair")
        self.primary, self.standby = (Server(self, name) for name in NAMES)
        try:
            self._start(synchronous)
        except BaseException:
            self.remove()
            raise

    def _start(self, synchronous):
        self.run("initdb", "-D", self.primary.data, *INITDB)
        with open(self.primary.data / "postgresql.conf", "a") as file:
            file.write(SETTINGS + (SYNCHRONOUS if synchronous else ""))
        self.primary.configure()
        self.primary.start()
        self.remake_standby()

    def run(self, program, *arguments, check=True):
        with open(self.folder / "programs.log", "ab") as log:
            done = subprocess.run(
                [*self.prefix, str(self.bin / program), *map(str, arguments)], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=120)
        if check:
            assert done.returncode == 0, (self.folder / "programs.log").read_text()[-4000:]
        return done.returncode

    @property
    def url(self):
        """Both hosts; libpq takes the one that can write."""
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self._in_order)
        return f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"

    @property
    def _in_order(self):
        return sorted((self.primary, self.standby), key=lambda server: server.name)

    def remake_standby(self):
        self.standby.copy(self.primary)
        self.standby.start()

    def promote(self):
        """Makes the standby the primary. The old primary has to be stopped before."""
        assert not (self.primary.data / "postmaster.pid").exists(), "the old primary is not fenced"
        self.run("pg_ctl", "-D", self.standby.data, "-w", "-t", 30, "promote")
        self.primary, self.standby = self.standby, self.primary

    def remove(self):
        for server in (self.primary, self.standby):
            if (server.data / "postmaster.pid").exists():
                self.run("pg_ctl", "-D", server.data, "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
