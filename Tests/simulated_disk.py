"""A disk that a test can let fail, and the images that a power failure may leave of it."""

import mmap
import pathlib
import struct
from collections import namedtuple

from preload import preloaded

CODE = pathlib.Path(__file__).with_name("simulated_disk.c").read_text()
CREATED, WRITTEN, SYNCED, TRUNCATED, REMOVED, RENAMED, FOLDER_SYNCED = range(1, 8)
FAULTS = {"write": 1, "short": 2, "sync": 3, "truncate": 4, "open": 5, "read": 6}
SECTOR = 512
HEADER = struct.Struct("<IIQQ")

Record = namedtuple("Record", "end kind path offset data")


class FaultyDisk:
    """The files under a folder, of which single calls can be made to fail."""

    def __init__(self, folder, root):
        self.block = folder / "control"
        self.block.write_bytes(bytes(16))
        with open(self.block, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 16)
        self.environment = {
            **preloaded(folder, CODE),
            "DISK_ROOT": str(root),
            "DISK_CONTROL": str(self.block),
        }

    def fail(self, kind, error, before=0):
        """One call of a kind fails with an error, after so many that succeed."""
        failed = struct.unpack_from("<i", self.memory, 12)[0]
        struct.pack_into("<iii", self.memory, 4, before, error, failed)
        struct.pack_into("<i", self.memory, 0, FAULTS[kind])

    def stop_failing(self):
        """Nothing fails any more. Says whether something did."""
        struct.pack_into("<i", self.memory, 0, 0)
        failed = struct.unpack_from("<i", self.memory, 12)[0]
        struct.pack_into("<i", self.memory, 12, 0)
        return failed > 0


class RecordedDisk:
    """The files under a folder with every change of them in order."""

    def __init__(self, folder, root):
        self.root = pathlib.Path(root)
        self.log = folder / "disk.log"
        self.environment = {
            **preloaded(folder, CODE),
            "DISK_ROOT": str(root),
            "DISK_LOG": str(self.log),
        }

    @property
    def position(self):
        """Where the log ends now: what was promised before has its records before it."""
        return self.log.stat().st_size

    def records(self):
        data = self.log.read_bytes()
        at = 0
        while at + HEADER.size <= len(data):
            kind, path_length, offset, length = HEADER.unpack_from(data, at)
            at += HEADER.size
            path = data[at : at + path_length].decode()
            at += path_length
            content = b""
            if kind in (WRITTEN, RENAMED):
                content = data[at : at + length]
                at += length
            yield Record(at, kind, path, offset, content)

    def images(self, random, count):
        """What may be on the disk after power failures at random moments: pairs of the position in the
        log and the files with their content."""
        records = list(self.records())
        moments = sorted(random.sample(range(len(records)), min(count, len(records))))
        disk = FileSystemModel()
        done = 0
        for moment in moments:
            for record in records[done : moment + 1]:
                disk.take(record)
            done = moment + 1
            yield records[moment].end, disk.after_power_failure(random)


class File:
    """A file: what is on the disk for sure, and the changes that may or may not be."""

    def __init__(self):
        self.content = bytearray()
        self.waiting = []
        # The folder's entry for it is on the disk for sure.
        self.is_entered = False

    def sync(self):
        for change in self.waiting:
            apply(self.content, *change)
        self.waiting = []

    def after_power_failure(self, random):
        """All of what waits, none of it, what came first, or any sectors in any order."""
        way = random.choice(["none", "all", "first", "sectors"])
        content = bytearray(self.content)
        waiting = [] if way == "none" else self.waiting
        if way == "first":
            waiting = waiting[: random.randrange(len(waiting) + 1)]
        if way == "sectors":
            waiting = [part for change in waiting for part in sectors(*change)]
            waiting = [part for part in waiting if random.random() < 0.5]
        for change in waiting:
            apply(content, *change)
        return bytes(content)


def apply(content, kind, offset, data):
    if kind == TRUNCATED:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def sectors(kind, offset, data):
    """A change in pieces that reach the disk each as a whole."""
    if kind == TRUNCATED:
        return [(kind, offset, data)]
    pieces = []
    while data:
        room = SECTOR - offset % SECTOR
        pieces.append((kind, offset, data[:room]))
        offset, data = offset + room, data[room:]
    return pieces


class FileSystemModel:
    """A file system that promises what POSIX does: content after the file's sync, and that a file is
    there, gone or renamed after the folder's."""

    def __init__(self):
        self.files = {}
        # Files that were removed, whose removal may not be on the disk yet.
        self.removed = {}

    def take(self, record):
        kind, path = record.kind, record.path
        if kind == CREATED:
            self.files[path] = File()
        elif kind in (WRITTEN, TRUNCATED):
            if path in self.files:
                self.files[path].waiting.append((kind, record.offset, record.data))
        elif kind == SYNCED:
            if path in self.files:
                self.files[path].sync()
        elif kind == REMOVED:
            file = self.files.pop(path, None)
            if file and file.is_entered:
                self.removed[path] = file
        elif kind == RENAMED:
            file = self.files.pop(path, None)
            if file:
                self.files[record.data.decode()] = file
        elif kind == FOLDER_SYNCED:
            for name, file in self.files.items():
                if name.rpartition("/")[0] == path:
                    file.is_entered = True
            gone = [name for name in self.removed if name.rpartition("/")[0] == path]
            for name in gone:
                del self.removed[name]

    def after_power_failure(self, random):
        """The files that are there, with their content."""
        left = {}
        for path, file in self.removed.items():
            if random.random() < 0.5:
                left[path] = file.after_power_failure(random)
        for path, file in self.files.items():
            if file.is_entered or random.random() < 0.5:
                left[path] = file.after_power_failure(random)
        return left
