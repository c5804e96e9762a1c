// A read takes one of the log's five read locks and gives it back: two calls into the kernel, both inside a
// mutex that all connections of the process share, so that two threads that read at once wait for each other.
// Most often the next read takes the same one again. So a connection keeps it:
//
// 1. What is given back stays locked in truth, and is only noted as unused. To take it again is one atomic
//    exchange.
// 2. Who asks for read locks alone, to move a mark, to copy the log or to begin it anew, first gets
//    everything of those that lies unused, of any connection of this process, unlocked in truth. What is
//    in use is left, and is refused to him as without this file.
// 3. Who asks for another lock than the one kept gives that one back in truth before.
// 4. When a connection lets go of the log, it gives back in truth what it keeps.
//
// Everything but the exchanges of rule 1 happens under one mutex, so that nobody unlocks what another is
// about to lock. To another process a connection that keeps a lock looks like one that reads: it can read
// and write, but not begin the log anew.
//
// The locks are SQLite's: https://sqlite.org/walformat.html#wal_locks

#include "kept_locks.h"

#include <pthread.h>

enum {
  // The first of the read locks; before it are those of who writes, copies the log, and recovers.
  first_read_lock = 3,
  keeps_nothing = 0,
};

static int unused(int lock) { return lock * 2; }
static int in_use(int lock) { return lock * 2 + 1; }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// All connections, changed under the mutex.
static kept_lock *connections;

int kept_locks_open(
    kept_lock *own, sqlite3_file *file, const sqlite3_io_methods *system, const char *path) {
  struct stat status;
  if (!path || stat(path, &status) != 0) return 0;
  own->file = file;
  own->system = system;
  own->device = status.st_dev;
  own->inode = status.st_ino;
  atomic_init(&own->state, keeps_nothing);
  pthread_mutex_lock(&mutex);
  own->next = connections;
  connections = own;
  pthread_mutex_unlock(&mutex);
  return 1;
}

// Unlocks in truth what lies unused of some locks that follow each other. Under the mutex.
static int give_back(kept_lock *one, int first, int count) {
  for (int lock = first; lock < first + count; lock++) {
    int expected = unused(lock);
    // From here on its own connection waits for the mutex before it reads.
    if (lock < first_read_lock ||
        !atomic_compare_exchange_strong(&one->state, &expected, keeps_nothing)) {
      continue;
    }
    int code =
        one->system->xShmLock(one->file, lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    if (code != SQLITE_OK) atomic_store(&one->state, unused(lock));
    return code;
  }
  return SQLITE_OK;
}

// Takes a read lock in truth, and keeps it from now on. Under the mutex.
static int take(kept_lock *own, int lock, int flags) {
  int code = give_back(own, first_read_lock, SQLITE_SHM_NLOCK - first_read_lock);
  if (code == SQLITE_OK) code = own->system->xShmLock(own->file, lock, 1, flags);
  if (code == SQLITE_OK && atomic_load(&own->state) == keeps_nothing) {
    atomic_store(&own->state, in_use(lock));
  }
  return code;
}

int kept_locks_lock(kept_lock *own, int first, int count, int flags) {
  int is_end = flags & SQLITE_SHM_UNLOCK;
  int is_read = first >= first_read_lock && (flags & SQLITE_SHM_SHARED);
  if (is_read) {
    int from = is_end ? in_use(first) : unused(first);
    int to = is_end ? unused(first) : in_use(first);
    if (atomic_compare_exchange_strong(&own->state, &from, to)) return SQLITE_OK;
  }
  pthread_mutex_lock(&mutex);
  int code;
  if (is_read && !is_end) {
    code = take(own, first, flags);
  } else {
    if (!is_end && (flags & SQLITE_SHM_EXCLUSIVE)) {
      for (kept_lock *one = connections; one; one = one->next) {
        // Where that fails, the lock is refused below.
        if (one->inode == own->inode && one->device == own->device) {
          (void)give_back(one, first, count);
        }
      }
    }
    code = own->system->xShmLock(own->file, first, count, flags);
  }
  pthread_mutex_unlock(&mutex);
  return code;
}

int kept_locks_unmap(kept_lock *own, int removes) {
  pthread_mutex_lock(&mutex);
  (void)give_back(own, first_read_lock, SQLITE_SHM_NLOCK - first_read_lock);
  pthread_mutex_unlock(&mutex);
  return own->system->xShmUnmap(own->file, removes);
}

int kept_locks_close(kept_lock *own) {
  pthread_mutex_lock(&mutex);
  for (kept_lock **link = &connections; *link; link = &(*link)->next) {
    if (*link != own) continue;
    *link = own->next;
    break;
  }
  pthread_mutex_unlock(&mutex);
  return own->system->xClose(own->file);
}
