// The locks of readers, kept from one read to the next. Its rules stand in kept_locks.c.

#ifndef KEPT_LOCKS_H
#define KEPT_LOCKS_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>

// What one connection keeps of one database's file.
typedef struct kept_lock {
  sqlite3_file *file;
  // The system's own, which lock in truth.
  const sqlite3_io_methods *system;
  dev_t device;
  ino_t inode;
  // 0 for none, or which one, and whether a read goes on.
  atomic_int state;
  struct kept_lock *next;
} kept_lock;

// A connection begins with a file of that path. False where it keeps nothing.
int kept_locks_open(
    kept_lock *own, sqlite3_file *file, const sqlite3_io_methods *system, const char *path);

// SQLite's xShmLock, xShmUnmap and xClose.
int kept_locks_lock(kept_lock *own, int first, int count, int flags);
int kept_locks_unmap(kept_lock *own, int removes);
int kept_locks_close(kept_lock *own);

#endif
