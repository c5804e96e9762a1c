"""A disk becomes read-only while Understudy runs: writes get 503, and nothing is lost."""

import os

import pytest
import requests
from preload import preloaded
from programs import Proxy, wait_until

# As the kernel does after an error of the disk: each write to a file is refused, while the files stay
# open and can be read.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(int file) {
    struct stat its;
    const char *sign = getenv("READ_ONLY_SIGN");
    if (!sign || access(sign, F_OK) != 0) return 0;
    if (fstat(file, &its) != 0 || !S_ISREG(its.st_mode)) return 0;
    errno = EROFS;
    return 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return refused(f) ? -1 : REAL(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return refused(f) ? -1 : REAL(pwrite64)(f, b, n, o); }
ssize_t write(int f, const void *b, size_t n) { return refused(f) ? -1 : REAL(write)(f, b, n); }
int ftruncate(int f, off_t n) { return refused(f) ? -1 : REAL(ftruncate)(f, n); }
int ftruncate64(int f, off64_t n) { return refused(f) ? -1 : REAL(ftruncate64)(f, n); }
"""


@pytest.fixture
def disk(tmp_path):
    """Environment of a process whose disk is read-only while the file exists."""
    sign = tmp_path / "read-only"
    return {**preloaded(tmp_path, SHIM), "READ_ONLY_SIGN": str(sign)}, sign


def test_a_read_only_disk_is_503_and_loses_no_acknowledged_write(start, tmp_path, disk):
    environment, sign = disk
    backend = start.backend("--faults")
    proxy = Proxy(tmp_path / "proxy", backend.url, ["--sync", "manual"])
    proxy.environment = environment
    try:
        proxy.start()
        kept = {proxy.insert({"text": f"before {n}"})["id"]: f"before {n}" for n in range(20)}
        one = next(iter(kept))

        sign.touch()
        for answer in (
            proxy.request("POST", "/tables/todoitem", json={"text": "refused"}),
            proxy.request("PATCH", f"/tables/todoitem/{one}", json={"text": "refused"}),
            proxy.request("DELETE", f"/tables/todoitem/{one}"),
        ):
            assert answer.status_code == 503, answer.text
            assert "cannot be written" in answer.json()["error"], answer.text
            assert int(answer.headers["Retry-After"]) > 0
        # It writes at most once a second.
        wait_until(
            lambda: requests.get(proxy.url + "/-/readyz", timeout=5).status_code == 503, 20,
            "/-/readyz of a disk that cannot be written",
        )
        assert requests.get(proxy.url + "/-/livez", timeout=5).status_code == 200
        # Existing rows can be read, and a refused write left nothing.
        assert {row["id"]: row["text"] for row in proxy.all()} == kept
        # A sync that cannot store the state `sending` sends nothing.
        run = proxy.operator("POST", "/sync?wait=30", json={})
        assert run["state"] == "failed", run
        assert backend.all() == []

        os.remove(sign)
        wait_until(
            lambda: requests.get(proxy.url + "/-/readyz", timeout=5).status_code == 200, 20,
            "/-/readyz once the disk can be written",
        )
        item = proxy.insert({"text": "after"})
        kept[item["id"]] = "after"
        assert proxy.sync()["state"] == "complete"
        assert {row["id"]: row["text"] for row in backend.all()} == kept
        effects = backend.request("GET", "/-/effects").json()["effects"]
        assert len(effects) == len(kept), "each write took effect exactly once"
    finally:
        if proxy.program:
            proxy.program.kill()
