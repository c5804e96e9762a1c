"""Simulated power failure: whichever writes the disk kept, every acknowledged write is there, and the
database is whole.

POWER_IMAGES sets the number of images, POWER_SEED the seed (`make soak`).
"""

import os
import random
import shutil
import sqlite3
import threading

from programs import Proxy, Tables, free_port
from simulated_disk import RecordedDisk

IMAGES = int(os.environ.get("POWER_IMAGES", "12"))
SEED = int(os.environ.get("POWER_SEED", "1"))


class Writer(threading.Thread):
    """Writes its own items. An item's past is a list of (text, the position in the disk's log at which
    it was acknowledged); the text None means no item."""

    def __init__(self, number, url, disk, count):
        super().__init__(daemon=True)
        self.name = f"w{number}"
        self.random = random.Random(f"{SEED} {number}")
        self.client = Tables(url)
        self.disk = disk
        self.count = count
        self.pasts = {}
        self.complaints = []

    def run(self):
        try:
            for number in range(self.count):
                self.step(f"{self.name} {number}")
        except Exception as error:
            self.complaints.append(f"{type(error).__name__}: {error}")

    def step(self, text):
        alive = [id for id, past in self.pasts.items() if past[-1][0] is not None]
        # Sometimes a large one, which takes many pages of the log.
        body = {"text": text, "more": "x" * self.random.choice([0, 0, 50, 60_000])}
        chance = self.random.random()
        if not alive or chance < 0.4:
            id = self.client.insert(body)["id"]
            self.pasts[id] = [(None, 0)]
        else:
            id = self.random.choice(alive)
            if chance > 0.9:
                self.client.delete(id)
                text = None
            else:
                self.client.update(id, body)
        self.pasts[id].append((text, self.disk.position))

    def possible(self, id, position):
        """The texts that the item may have after a power failure at a position of the log."""
        past = self.pasts[id]
        last = max(at for at, (_, promised) in enumerate(past) if promised <= position)
        return {text for text, _ in past[last:]}


def record(start, tmp_path, count):
    """A new proxy that writes, sends and reads, with a record of every change of its disk."""
    backend = start.backend()
    for number in range(60):
        backend.insert({"id": f"theirs-{number}", "text": f"theirs {number}"})
    disk = RecordedDisk(tmp_path, tmp_path / "proxy")
    proxy = Proxy(tmp_path / "proxy", backend.url, ["--sync", "manual"])
    proxy.environment = disk.environment
    proxy.start()
    try:
        writers = [Writer(number, proxy.url, disk, count) for number in range(3)]
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            proxy.sync()
        for writer in writers:
            writer.join()
    finally:
        proxy.program.kill()
    assert [text for writer in writers for text in writer.complaints] == []
    return disk, writers


def test_acknowledged_writes_survive_a_power_failure_at_any_moment(start, tmp_path):
    print(f"POWER_SEED={SEED} POWER_IMAGES={IMAGES}")
    disk, writers = record(start, tmp_path, count=max(30, IMAGES // 2))
    plan = random.Random(SEED)
    whole = 0
    for number, (position, files) in enumerate(disk.images(plan, IMAGES)):
        folder = tmp_path / "image"
        lay_out(folder, {path.removeprefix(f"{disk.root}/"): files[path] for path in files})
        whole += look_at_image(folder, writers, position, f"image {number} at {position}")
    assert whole > 0, "no image has a store"


def lay_out(folder, files):
    """Writes an image that only its owner may read, as Understudy wants it."""
    shutil.rmtree(folder, ignore_errors=True)
    before = os.umask(0o077)
    folder.mkdir()
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    os.umask(before)


def look_at_image(folder, writers, position, name):
    """Returns whether the image has a store. Checks that it holds every write acknowledged before."""
    stores = list(folder.rglob("*.sqlite"))
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    for store in copy.rglob("*.sqlite"):
        database = sqlite3.connect(store)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], name
        database.close()
    shutil.rmtree(copy)
    proxy = Proxy(folder, f"http://127.0.0.1:{free_port()}", ["--sync", "manual"])
    try:
        proxy.start()
        for writer in writers:
            for id in writer.pasts:
                answer = proxy.get(id)
                found = answer.json()["text"] if answer.status_code == 200 else None
                possible = writer.possible(id, position)
                assert found in possible, f"{name}: {id} reads {found!r}, not one of {possible}"
        assert proxy.status()["ledger"]["balances"], name
    finally:
        proxy.program.kill()
    return len(stores) > 0
