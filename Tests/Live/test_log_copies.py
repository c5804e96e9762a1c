"""The log is copied into the store a piece at a time, so that no commit waits for all of it."""

from preload import preloaded
from programs import Proxy, wait_until

# Notes for a file called store.sqlite how many bytes were written to it without a sync, at most.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long unsynced, most, all;
static int is_store(int file) {
    char link[64], path[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    const char *name = strrchr(path, '/');
    return name && strcmp(name, "/store.sqlite") == 0;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static void note_write(int file, ssize_t count) {
    if (count <= 0 || !is_store(file)) return;
    unsynced += count;
    all += count;
    if (unsynced > most) most = unsynced;
    FILE *notes = fopen(getenv("COPY_NOTES"), "w");
    if (!notes) return;
    fprintf(notes, "%ld %ld\n", most, all);
    fclose(notes);
}
ssize_t pwrite(int f, const void *b, size_t n, off_t o) {
    ssize_t count = REAL(pwrite)(f, b, n, o);
    note_write(f, count);
    return count;
}
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) {
    ssize_t count = REAL(pwrite64)(f, b, n, o);
    note_write(f, count);
    return count;
}
int fdatasync(int f) {
    if (is_store(f)) unsynced = 0;
    return REAL(fdatasync)(f);
}
int fsync(int f) {
    if (is_store(f)) unsynced = 0;
    return REAL(fsync)(f);
}
"""


def test_a_long_log_is_synced_in_pieces_while_it_is_copied(start, tmp_path):
    notes = tmp_path / "notes"
    proxy = Proxy(tmp_path / "proxy", start.backend().url, ["--sync", "manual"])
    proxy.environment = {**preloaded(tmp_path, SHIM), "COPY_NOTES": str(notes)}
    try:
        proxy.start()
        for _ in range(24):
            proxy.insert({"text": "x" * 900_000})

        def copied():
            words = notes.read_text().split() if notes.exists() else []
            return words if len(words) == 2 and int(words[1]) > 4_000_000 else None

        most, _ = wait_until(copied, 20, "the log's copy")
        assert int(most) <= 256 * 1024 + 4096
    finally:
        proxy.stop()
