// SQLite writes a log frame by frame, and a frame in two parts: a head of 24 bytes, then the page. A
// commit of twenty pages is forty calls into the kernel, which cost more than what they write. So the
// log's file stands behind one that collects:
//
// 1. What continues the bytes that wait joins them; anything else writes them out first. What goes over
//    bytes that came earlier is written at once.
// 2. The page of a frame that ends a transaction writes them out, so that a commit is in the file
//    before anybody can know of it. Whether it is on disk is SQLite's own sync, after that.
// 3. Whatever else is asked of the file writes them out before: a read of them, a sync, a size.
// 4. Where the writing fails, that call fails as it would without this file, and what waited is given
//    up: no transaction is committed by it, and SQLite writes its frames again.
// 5. When the connection lets go of the lock of who writes, what still waits is of a transaction that was
//    rolled back, and is given up: the next to write, perhaps another process, has those places. So it is
//    when the file is closed.
//
// Only one connection writes to a log at a time, which that lock sees to; others read what was committed,
// which does not wait here. Every connection has a file, and so a buffer, of its own.
//
// Besides, what is copied from a log into its database is synced a piece at a time: a commit that is synced
// meanwhile waits for a piece, not for thousands of pages that lie all over the file.
//
// The log's format is SQLite's: https://sqlite.org/fileformat2.html#the_write_ahead_log

#include "write_ahead_log.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "kept_locks.h"

enum {
  // The most that waits, in bytes: 31 frames of 4 KiB. SQLite's files take less than 128 KiB at once: they
  // cut off the higher bits of a number of bytes, and say that the disk is full.
  capacity = 31 * (4096 + 24),
  frame_head_bytes = 24,
  // What pages were before a savepoint or a statement is kept in memory up to so many bytes, taken at
  // once, and in a file beyond: what one operation changes is less, what a purge changes is more. To the file
  // it goes at once as well, so this has the same bound.
  undo_bytes = 124 * 1024,
  // How much is copied into the database before it is synced.
  piece_bytes = 256 * 1024,
};

typedef struct {
  sqlite3_file base;
  unsigned char *waiting;
  int count;
  sqlite3_int64 offset;
  // Behind the last byte that came in this transaction.
  sqlite3_int64 end;
  // The frame whose head came last ends a transaction.
  int ends_transaction;
  // The file of the database whose log it is.
  sqlite3_file *database;
  // The system's own file follows.
} collecting_file;

static sqlite3_vfs *system_vfs;

static sqlite3_file *real(sqlite3_file *file) {
  return (sqlite3_file *)((collecting_file *)file + 1);
}

// What the file of a database has behind all that is the system's.
typedef struct {
  collecting_file *log;
  // Bytes that were copied from the log since the last piece was synced.
  int copied;
  kept_lock lock;
  // The system's methods, with locks of its own.
  sqlite3_io_methods methods;
} database_part;

static database_part *part_of(sqlite3_file *database) {
  return (database_part *)((char *)database + system_vfs->szOsFile);
}

static int write_out(sqlite3_file *file) {
  collecting_file *log = (collecting_file *)file;
  int count = log->count;
  log->count = 0;
  if (count == 0) return SQLITE_OK;
  return real(file)->pMethods->xWrite(real(file), log->waiting, count, log->offset);
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  collecting_file *log = (collecting_file *)file;
  int goes_on = offset >= log->end;
  if (goes_on) log->end = offset + count;
  int continues = log->count > 0 && offset == log->offset + log->count;
  if (!continues || log->count + count > capacity) {
    int code = write_out(file);
    if (code != SQLITE_OK) return code;
  }
  if (goes_on && !log->waiting) log->waiting = sqlite3_malloc(capacity);
  if (!goes_on || !log->waiting || count > capacity) {
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
  }
  if (log->count == 0) log->offset = offset;
  memcpy(log->waiting + log->count, bytes, (size_t)count);
  log->count += count;
  if (count == frame_head_bytes) {
    // The size of the database after the commit; zero in all other frames.
    static const unsigned char none[4];
    log->ends_transaction = memcmp((const unsigned char *)bytes + 4, none, sizeof none) != 0;
    return SQLITE_OK;
  }
  return log->ends_transaction ? write_out(file) : SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  collecting_file *log = (collecting_file *)file;
  if (log->count > 0 && offset < log->offset + log->count && log->offset < offset + count) {
    int code = write_out(file);
    if (code != SQLITE_OK) return code;
  }
  return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = write_out(file);
  return code == SQLITE_OK ? real(file)->pMethods->xTruncate(real(file), size) : code;
}

static int log_sync(sqlite3_file *file, int flags) {
  int code = write_out(file);
  return code == SQLITE_OK ? real(file)->pMethods->xSync(real(file), flags) : code;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
  int code = write_out(file);
  return code == SQLITE_OK ? real(file)->pMethods->xFileSize(real(file), size) : code;
}

static int log_control(sqlite3_file *file, int operation, void *argument) {
  int code = write_out(file);
  return code == SQLITE_OK ? real(file)->pMethods->xFileControl(real(file), operation, argument)
                           : code;
}

static int log_close(sqlite3_file *file) {
  collecting_file *log = (collecting_file *)file;
  part_of(log->database)->log = 0;
  sqlite3_free(log->waiting);
  return real(file)->pMethods->xClose(real(file));
}

// SQLite locks the database's file, never the log's.
static int log_lock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

static int log_unlock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int log_is_reserved(sqlite3_file *file, int *answer) {
  return real(file)->pMethods->xCheckReservedLock(real(file), answer);
}

static int log_sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int log_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static const sqlite3_io_methods collecting_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

static int database_write(
    sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  database_part *part = part_of(file);
  const sqlite3_io_methods *system = part->lock.system;
  int code = system->xWrite(file, bytes, count, offset);
  // Without a log, as in a backup that is being made, the sync at its end is enough.
  if (code != SQLITE_OK || !part->log) return code;
  part->copied += count;
  if (part->copied < piece_bytes) return SQLITE_OK;
  part->copied = 0;
  return system->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

static int database_lock(sqlite3_file *file, int first, int count, int flags) {
  database_part *part = part_of(file);
  // The lock of who writes is the first of the log's locks.
  if (first == 0 && (flags & SQLITE_SHM_UNLOCK) && part->log) {
    part->log->count = 0;
    part->log->end = 0;
  }
  return kept_locks_lock(&part->lock, first, count, flags);
}

static int database_unmap(sqlite3_file *file, int removes) {
  return kept_locks_unmap(&part_of(file)->lock, removes);
}

static int database_close(sqlite3_file *file) { return kept_locks_close(&part_of(file)->lock); }

// The system's own takes a mutex of the whole process as well, for what is no barrier without it; this is.
static void database_barrier(sqlite3_file *file) {
  (void)file;
  atomic_thread_fence(memory_order_seq_cst);
}

static int open_log(
    const char *path, sqlite3_file *file, sqlite3_file *database, int flags, int *out_flags) {
  collecting_file *log = (collecting_file *)file;
  memset(log, 0, sizeof *log);
  int code = system_vfs->xOpen(system_vfs, path, real(file), flags, out_flags);
  if (code == SQLITE_OK) {
    log->base.pMethods = &collecting_methods;
    log->database = database;
    part_of(database)->log = log;
  } else if (real(file)->pMethods) {
    // SQLite closes nothing that has no methods.
    real(file)->pMethods->xClose(real(file));
  }
  return code;
}

// A log has a file in front of the system's, a database locks of its own; all others are the system's.
static int open_file(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  if (flags & SQLITE_OPEN_WAL) {
    sqlite3_file *database = sqlite3_database_file_object(path);
    // Without that lock nobody would say when what waits is to be given up.
    if (database && database->pMethods == &part_of(database)->methods) {
      return open_log(path, file, database, flags, out_flags);
    }
  }
  int code = system_vfs->xOpen(system_vfs, path, file, flags, out_flags);
  int has_lock = file->pMethods && file->pMethods->iVersion >= 2 && file->pMethods->xShmLock;
  if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) && has_lock) {
    database_part *part = part_of(file);
    part->log = 0;
    part->copied = 0;
    if (!kept_locks_open(&part->lock, file, file->pMethods, path)) return code;
    part->methods = *file->pMethods;
    part->methods.xWrite = database_write;
    part->methods.xShmLock = database_lock;
    part->methods.xShmUnmap = database_unmap;
    part->methods.xShmBarrier = database_barrier;
    part->methods.xClose = database_close;
    file->pMethods = &part->methods;
  }
  return code;
}

static sqlite3_vfs vfs;
static int outcome = SQLITE_OK;

static void set_up(void) {
  // Both are refused where SQLite runs already. Nobody asks how much memory it uses, and to count that is
  // a lock that all threads share.
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, undo_bytes);
  outcome = sqlite3_initialize();
  if (outcome != SQLITE_OK) return;
  system_vfs = sqlite3_vfs_find(0);
  if (!system_vfs) {
    outcome = SQLITE_ERROR;
    return;
  }
  // The system's calls get the vfs that they are given, and use no more of it than is copied here.
  vfs = *system_vfs;
  vfs.pNext = 0;
  vfs.zName = "collecting";
  // A log has its own part in front, a database behind.
  vfs.szOsFile = system_vfs->szOsFile + (int)(sizeof(collecting_file) + sizeof(database_part));
  vfs.xOpen = open_file;
  outcome = sqlite3_vfs_register(&vfs, 1);
}

int write_ahead_log_set_up(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set_up);
  return outcome;
}
