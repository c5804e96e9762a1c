"""A PostgreSQL of Debian's package for one test: its files in a temporary folder, a Unix socket only, and as
another user where the tests run as root."""

import os
import pathlib
import shutil
import subprocess
import tempfile

MISSING = "PostgreSQL is not installed. Run scripts/setup test, or as root: apt-get install postgresql"


def programs():
    """The folder of the newest PostgreSQL's programs."""
    folders = pathlib.Path("/usr/lib/postgresql").glob("*/bin")
    found = sorted(folders, key=lambda path: float(path.parent.name))
    assert found and (found[-1] / "initdb").exists(), MISSING
    return found[-1]


def folder_and_prefix(name):
    """A new folder for servers, and what stands before their commands so that another user than root runs them."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"understudy-{name}-", dir="/tmp"))
    prefix = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    folder.chmod(0o755)
    return folder, prefix


INITDB = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")


class PostgreSQL:
    def __init__(self):
        self.bin = programs()
        self.folder, self.prefix = folder_and_prefix("postgresql")
        self._run("initdb", "-D", self.data, *INITDB)
        self.start()

    @property
    def data(self):
        return str(self.folder / "data")

    @property
    def url(self):
        return f"postgresql:///postgres?host={self.folder}&port=5432&user=postgres"

    def _run(self, program, *arguments):
        done = subprocess.run([*self.prefix, str(self.bin / program), *arguments], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout

    def start(self):
        options = (f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c port=5432 "
                   "-c fsync=off -c max_connections=100")
        with open(os.devnull, "w") as nothing:
            done = subprocess.run([*self.prefix, str(self.bin / "pg_ctl"), "-D", self.data, "-w", "-l",
                                   self.data + "/log", "-o", options, "start"], cwd=self.folder,
                                  stdin=subprocess.DEVNULL, stdout=nothing, stderr=nothing)
        assert done.returncode == 0, (self.folder / "data/log").read_text()

    def stop(self, mode="immediate"):
        self._run("pg_ctl", "-D", self.data, "-m", mode, "stop")

    def sql(self, statement):
        """What a statement gives, as psql writes it."""
        return subprocess.run([str(self.bin / "psql"), self.url, "-XAtc", statement], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def remove(self):
        subprocess.run([*self.prefix, str(self.bin / "pg_ctl"), "-D", self.data, "-m", "immediate", "stop"],
                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)
