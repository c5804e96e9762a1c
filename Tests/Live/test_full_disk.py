"""A start on a disk without a free byte: what is here is read, writes are refused and say why."""

import pytest
from preload import preloaded
from programs import Program, Proxy, free_port, status_of, wait_until

# Each write to a regular file under the folder finds no room while the sign is there.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_full(int file) {
    struct stat its;
    if (access(getenv("FULL_SIGN"), F_OK) != 0 || fstat(file, &its) != 0 || !S_ISREG(its.st_mode)) return 0;
    errno = ENOSPC;
    return 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return is_full(f) ? -1 : REAL(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return is_full(f) ? -1 : REAL(pwrite64)(f, b, n, o); }
ssize_t write(int f, const void *b, size_t n) { return is_full(f) ? -1 : REAL(write)(f, b, n); }
"""


@pytest.fixture
def disk(tmp_path):
    sign = tmp_path / "full"
    return {**preloaded(tmp_path, SHIM), "FULL_SIGN": str(sign)}, sign


@pytest.mark.parametrize("ends", ["stopped", "killed"])
def test_a_start_on_a_full_disk_serves_reads_and_says_why_it_takes_no_writes(tmp_path, disk, ends):
    environment, sign = disk
    proxy = Proxy(tmp_path / "proxy", f"http://127.0.0.1:{free_port()}", ["--sync", "manual"])
    # No policy is named, so the next start has none to take back.
    proxy.standard = ()
    proxy.environment = environment
    proxy.start()
    try:
        for id in "abc":
            proxy.insert({"id": id, "text": "x"})
        if ends == "stopped":
            proxy.stop()
        else:
            proxy.program.kill()
        sign.touch()
        arguments = ["serve", "--backend", proxy.backend_url, "--listen", f"127.0.0.1:{proxy.port}",
                     "--data", proxy.folder, "--sync", "manual"]
        proxy.program = Program(arguments, environment)
        wait_until(lambda: proxy.program.alive() and status_of(proxy.port, "/-/livez") == 200, 30, "the start")
        assert "is full" in proxy.program.output
        assert [row["id"] for row in proxy.list()] == ["a", "b", "c"]
        assert proxy.get("a").json()["text"] == "x"
        for answer in (proxy.request("POST", "/tables/todoitem", json={"text": "y"}),
                       proxy.request("PATCH", "/tables/todoitem/a", json={"text": "y"})):
            assert answer.status_code == 507 and "disk is full" in answer.text.lower(), answer.text
        assert status_of(proxy.port, "/-/readyz") == 503
        # With room again writes are taken, without a start.
        sign.unlink()
        wait_until(lambda: proxy.request("POST", "/tables/todoitem", json={"id": "d", "text": "y"}).status_code == 201,
                   20, "a write")
        proxy.stop()
        proxy.start()
        assert [row["id"] for row in proxy.list()] == ["a", "b", "c", "d"]
        assert "is full" not in proxy.program.output
    finally:
        proxy.program.kill()
