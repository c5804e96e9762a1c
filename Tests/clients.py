"""Clients that write and read in threads of their own, one request at a time."""

import random
import threading
import time

import requests
from programs import Tables


class BusyClient(threading.Thread):
    """Does `step` again and again until `stop`, and keeps what was wrong in `complaints`."""

    def __init__(self, name, url, seed, pause_seconds=0):
        super().__init__(daemon=True)
        self.name = name
        self.random = random.Random(seed)
        self.tables = Tables(url)
        self.pause_seconds = pause_seconds
        self.goes_on = True
        self.count = 0
        self.complaints = []

    def run(self):
        while self.goes_on:
            try:
                self.step()
            except Exception as error:
                self.complaints.append(f"{self.name}: {type(error).__name__}: {error}")
            if self.pause_seconds:
                time.sleep(self.random.random() * self.pause_seconds)

    def step(self):
        raise NotImplementedError

    def send(self, method, path, **options):
        """The answer; None where none came, so that the outcome is unknown."""
        try:
            return self.tables.request(method, f"/tables/todoitem{path}", **options)
        except requests.RequestException:
            return None


def stop(clients):
    """Lets each end its step."""
    for client in clients:
        client.goes_on = False
    for client in clients:
        client.join(30)
