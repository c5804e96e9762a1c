/* Stands between a process and the files under DISK_ROOT.
 *
 * Each change of a file is written down in DISK_LOG in the order in which it took effect, so that the
 * images that a power failure may leave can be made of it. What the control block at DISK_CONTROL says
 * is to fail, fails.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATED = 1, WRITTEN, SYNCED, TRUNCATED, REMOVED, RENAMED, FOLDER_SYNCED };
enum { FAIL_WRITE = 1, FAIL_SHORT, FAIL_SYNC, FAIL_TRUNCATE, FAIL_OPEN, FAIL_READ, KILL };

/* What Python writes into the control block: which call is to fail, how many before it still succeed,
 * with what, and how many have failed. */
struct control {
    volatile int32_t kind, before, error, failed;
};

struct record {
    uint32_t kind, path_length;
    uint64_t offset, length;
};

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static int book = -1;
static struct control *control;

__attribute__((constructor)) static void begin(void) {
    root = getenv("DISK_ROOT");
    const char *log = getenv("DISK_LOG"), *block = getenv("DISK_CONTROL");
    if (log) book = REAL(open64)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (block) {
        int file = REAL(open64)(block, O_RDWR | O_CLOEXEC);
        control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        REAL(close)(file);
    }
}

/* The memory that the connections of a database share is no file that anybody needs after a failure. */
static int is_ours(const char *path) {
    size_t length = strlen(path);
    return root && strncmp(path, root, strlen(root)) == 0
        && !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

static int path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, 4095);
    if (length < 0) return 0;
    path[length] = 0;
    return is_ours(path);
}

/* Whether this call is the one that is to fail. */
static int fails(int kind) {
    if (!control || control->kind != kind) return 0;
    if (control->before > 0) {
        control->before -= 1;
        return 0;
    }
    control->kind = 0;
    control->failed += 1;
    errno = control->error;
    return 1;
}

static void note(uint32_t kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
    if ((kind == SYNCED || kind >= REMOVED) && fails(KILL)) kill(getpid(), SIGKILL);
    if (book < 0) return;
    struct record record = {kind, (uint32_t)strlen(path), offset, length};
    struct iovec parts[] = {
        {&record, sizeof record}, {(void *)path, record.path_length}, {(void *)data, length}};
    ssize_t wanted = (ssize_t)(sizeof record + record.path_length + length);
    if (REAL(writev)(book, parts, data ? 3 : 2) != (data ? wanted : wanted - (ssize_t)length)) abort();
}

static int opened(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
    char whole[4096];
    int wanted = flags & O_ACCMODE;
    if (!path || path[0] != '/' || !is_ours(path) || wanted == O_RDONLY) return real(path, flags, mode);
    pthread_mutex_lock(&order);
    int file = -1, is_new = access(path, F_OK) != 0;
    if (!fails(FAIL_OPEN)) file = real(path, flags, mode);
    int error = errno;
    if (file >= 0 && is_new && path_of(file, whole)) note(CREATED, whole, 0, NULL, 0);
    if (file >= 0 && !is_new && (flags & O_TRUNC) && path_of(file, whole))
        note(TRUNCATED, whole, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    errno = error;
    return file;
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}
int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(path, flags, mode, REAL(open));
}
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(path, flags, mode, REAL(open64));
}

static ssize_t written(int file, const void *data, size_t length, off64_t offset) {
    char path[4096];
    if (!path_of(file, path)) return REAL(pwrite64)(file, data, length, offset);
    pthread_mutex_lock(&order);
    ssize_t count = -1;
    if (fails(FAIL_SHORT)) {
        count = REAL(pwrite64)(file, data, length / 2, offset);
    } else if (!fails(FAIL_WRITE)) {
        count = REAL(pwrite64)(file, data, length, offset);
    }
    int error = errno;
    if (count > 0) note(WRITTEN, path, (uint64_t)offset, data, (uint64_t)count);
    pthread_mutex_unlock(&order);
    errno = error;
    return count;
}
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    return written(file, data, length, offset);
}
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    return written(file, data, length, offset);
}
ssize_t write(int file, const void *data, size_t length) {
    char path[4096];
    struct stat its;
    if (!root || fstat(file, &its) != 0 || !S_ISREG(its.st_mode) || !path_of(file, path))
        return REAL(write)(file, data, length);
    pthread_mutex_lock(&order);
    off64_t offset = fcntl(file, F_GETFL) & O_APPEND ? its.st_size : lseek64(file, 0, SEEK_CUR);
    ssize_t count = fails(FAIL_WRITE) ? -1 : REAL(write)(file, data, length);
    int error = errno;
    if (count > 0) note(WRITTEN, path, (uint64_t)offset, data, (uint64_t)count);
    pthread_mutex_unlock(&order);
    errno = error;
    return count;
}

ssize_t pread64(int file, void *data, size_t length, off64_t offset) {
    char path[4096];
    if (!control || control->kind != FAIL_READ || !path_of(file, path))
        return REAL(pread64)(file, data, length, offset);
    pthread_mutex_lock(&order);
    int is_to_fail = fails(FAIL_READ), error = errno;
    pthread_mutex_unlock(&order);
    errno = error;
    return is_to_fail ? -1 : REAL(pread64)(file, data, length, offset);
}

/* The image is made of the log, so the disk itself need not be waited for. */
static int synced(int file, int (*real)(int)) {
    char path[4096];
    struct stat its;
    if (!path_of(file, path) || fstat(file, &its) != 0) return real(file);
    pthread_mutex_lock(&order);
    int result = fails(FAIL_SYNC) ? -1 : book >= 0 ? 0 : real(file);
    int error = errno;
    if (result == 0) note(S_ISDIR(its.st_mode) ? FOLDER_SYNCED : SYNCED, path, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}
int fsync(int file) { return synced(file, REAL(fsync)); }
int fdatasync(int file) { return synced(file, REAL(fdatasync)); }

static int truncated(int file, off64_t length) {
    char path[4096];
    if (!path_of(file, path)) return REAL(ftruncate64)(file, length);
    pthread_mutex_lock(&order);
    int result = fails(FAIL_TRUNCATE) ? -1 : REAL(ftruncate64)(file, length);
    int error = errno;
    if (result == 0) note(TRUNCATED, path, (uint64_t)length, NULL, 0);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}
int ftruncate(int file, off_t length) { return truncated(file, length); }
int ftruncate64(int file, off64_t length) { return truncated(file, length); }

int unlink(const char *path) {
    if (!is_ours(path)) return REAL(unlink)(path);
    pthread_mutex_lock(&order);
    int result = REAL(unlink)(path), error = errno;
    if (result == 0) note(REMOVED, path, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}
int rename(const char *from, const char *to) {
    if (!is_ours(to)) return REAL(rename)(from, to);
    pthread_mutex_lock(&order);
    int result = REAL(rename)(from, to), error = errno;
    if (result == 0) note(RENAMED, from, 0, to, strlen(to));
    pthread_mutex_unlock(&order);
    errno = error;
    return result;
}
