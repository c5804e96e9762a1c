"""10,000 identities and 1,000 tables: their cost at the start and in the long run. The figures are
printed; `IDENTITIES` and `TABLES` set the numbers."""

import os
import pathlib
import re
import shutil
import signal
import time

import requests
from hostile import HTTPBackend
from programs import ZUMO, Tables
from token_backend import TokenBackend

IDENTITIES = int(os.environ.get("IDENTITIES", 10_000))
TABLES = int(os.environ.get("TABLES", 1_000))
START_SECONDS, MEGABYTES, FILES = 2, 100, 200


def memory(proxy):
    status = pathlib.Path(f"/proc/{proxy.program.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def files(proxy):
    return len(os.listdir(f"/proc/{proxy.program.process.pid}/fd"))


def started(proxy):
    began = time.monotonic()
    proxy.start()
    return time.monotonic() - began


def sign_in(proxy, user):
    answer = requests.post(
        f"{proxy.url}/.auth/login/facebook", json={"access_token": user}, headers=ZUMO, timeout=20
    )
    client = Tables(proxy.url)
    client.token = answer.json()["authenticationToken"]
    client.session.headers["X-ZUMO-AUTH"] = client.token
    return client


def test_ten_thousand_identities(start, capsys):
    backend = TokenBackend()
    server = HTTPBackend(backend)
    proxy = start.proxy(server.url)
    ana = sign_in(proxy, "ana")
    backend.is_away = True
    ana.insert({"id": "waits"})
    template = proxy.folder / "stores" / proxy.status()["identities"][1]
    proxy.stop()
    for number in range(IDENTITIES - 1):
        folder = template.parent / f"user{number}-{number:024x}"
        folder.mkdir(mode=0o700)
        shutil.copyfile(template / "store.sqlite", folder / "store.sqlite")
        (folder / "store.sqlite").chmod(0o600)
    first = started(proxy)
    assert len(proxy.status()["identities"]) == IDENTITIES + 1
    began = time.monotonic()
    unexamined = r'understudy_stores{state="unexamined"}'

    def left():
        text = requests.get(f"{proxy.url}/-/metrics", timeout=60).text
        return int(re.search(rf"^{re.escape(unexamined)} (\d+)$", text, re.M)[1])

    while left():
        assert time.monotonic() - began < IDENTITIES / 5, "the look at the stores takes too long"
        assert ana.get("waits").status_code == 200
        time.sleep(0.5)
    looked = time.monotonic() - began
    # The operator still sees everything.
    text = requests.get(f"{proxy.url}/-/metrics", timeout=60).text
    found = re.findall(r'^understudy_queue_operations{identity="users",state="(\w+)"} (\d+)', text, re.M)
    assert sum(int(count) for _, count in found) >= IDENTITIES - 8, found
    after_look = memory(proxy), files(proxy)
    for end in (signal.SIGTERM, signal.SIGKILL):
        proxy.program.stop(end)
        again = started(proxy)
        used = memory(proxy), files(proxy)
        with capsys.disabled():
            print(
                f"\n{IDENTITIES} identities: first start {first:.2f} s, all looked at in {looked:.0f} s "
                f"({after_look[0]:.0f} MB, {after_look[1]} files); start after {end.name} {again:.2f} s, "
                f"{used[0]:.0f} MB, {used[1]} files"
            )
        assert again < START_SECONDS
        assert used[0] < MEGABYTES
        assert used[1] < FILES
        assert len(proxy.status()["identities"]) == IDENTITIES + 1
    server.shutdown()


def test_a_thousand_tables(start, capsys):
    backend = TokenBackend()
    server = HTTPBackend(backend)
    proxy = start.proxy(server.url)
    ana = sign_in(proxy, "ana")
    backend.is_away = True
    for number in range(TABLES):
        ana.insert({"id": "a"}, table=f"t{number}")
    began = time.monotonic()
    name = proxy.status()["identities"][1]
    assert proxy.operator("GET", f"/tables?identity={name}")["total"] == TABLES
    status = time.monotonic() - began
    times = []
    for number in range(0, TABLES, 7):
        began = time.monotonic()
        assert ana.get("a", table=f"t{number}").status_code == 200
        times.append(time.monotonic() - began)
    proxy.stop()
    again = started(proxy)
    assert ana.get("a", table=f"t{TABLES - 1}").status_code == 200
    with capsys.disabled():
        print(
            f"\n{TABLES} tables: their list {status * 1000:.0f} ms, a read "
            f"{sorted(times)[len(times) // 2] * 1000:.1f} ms, start {again:.2f} s, {memory(proxy):.0f} MB"
        )
    assert again < START_SECONDS
    server.shutdown()
