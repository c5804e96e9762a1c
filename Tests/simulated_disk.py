"""A disk whose calls a test can make fail, and the images of it that a power failure may leave."""

import mmap
import pathlib
import struct
from collections import namedtuple

from preload import preloaded

CODE = pathlib.Path(__file__).with_name("simulated_disk.c").read_text()
CREATED, WRITTEN, SYNCED, TRUNCATED, REMOVED, RENAMED, FOLDER_SYNCED = range(1, 8)
FAULTS = {"write": 1, "short": 2, "sync": 3, "truncate": 4, "open": 5, "read": 6, "kill": 7}
SECTOR = 512
HEADER = struct.Struct("<IIQQ")

Record = namedtuple("Record", "end kind path offset data")


class FaultyDisk:
    """The files under a folder; a test can make single system calls on them fail."""

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
        """Makes one call of a kind fail with an error, after `before` successful ones. With `kill` the process dies
        after a sync, a removal or a renaming."""
        failed = struct.unpack_from("<i", self.memory, 12)[0]
        struct.pack_into("<iii", self.memory, 4, before, error, failed)
        struct.pack_into("<i", self.memory, 0, FAULTS[kind])

    def stop_failing(self):
        """Ends the faults. Returns whether a call has failed."""
        struct.pack_into("<i", self.memory, 0, 0)
        failed = struct.unpack_from("<i", self.memory, 12)[0]
        struct.pack_into("<i", self.memory, 12, 0)
        return failed > 0


class RecordedDisk:
    """The files under a folder, and a log of all changes of them in order."""

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
        """The end of the log now. An acknowledged write has its records before it."""
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
        """Possible disk images after power failures at random moments: pairs of the position in the log and
        the files with their content."""
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
    """A file: its synced content, and the changes that may not be on the disk."""

    def __init__(self):
        self.content = bytearray()
        self.waiting = []
        # Whether the folder's entry for it is synced.
        self.is_entered = False

    def sync(self):
        for change in self.waiting:
            apply(self.content, *change)
        self.waiting = []

    def after_power_failure(self, random):
        """The content with all of the waiting changes, none, the first ones, or any sectors of them."""
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
    """A change in sectors, each of which is written whole or not at all."""
    if kind == TRUNCATED:
        return [(kind, offset, data)]
    pieces = []
    while data:
        room = SECTOR - offset % SECTOR
        pieces.append((kind, offset, data[:room]))
        offset, data = offset + room, data[room:]
    return pieces


class FileSystemModel:
    """A file system with the guarantees of POSIX: content is durable after the file's sync; creation, removal
    and renaming after the folder's sync."""

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
        """The files after a power failure, with their content."""
        left = {}
        for path, file in self.removed.items():
            if random.random() < 0.5:
                left[path] = file.after_power_failure(random)
        for path, file in self.files.items():
            if file.is_entered or random.random() < 0.5:
                left[path] = file.after_power_failure(random)
        return left
