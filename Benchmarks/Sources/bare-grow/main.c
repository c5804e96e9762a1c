// SQLite alone taking rows: a table with one index of random ids, and nothing else.
//
//   bare-grow FILE COUNT
//
// FILE must not exist. Ids and texts are those of quiet-backend; 500 rows in a transaction, WAL,
// synchronous=FULL, and the cache and the length of the log of the proxy's writer.

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batch_rows = 500 };

static sqlite3 *db;

static void check(int code, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "bare-grow: %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(db, sql, 0, 0, 0), sql); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  long count = atol(argv[2]);
  check(sqlite3_open(argv[1], &db), "open");
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-32768;"
      "PRAGMA wal_autocheckpoint=250;"
      "CREATE TABLE items(number INTEGER PRIMARY KEY, id TEXT NOT NULL, columns TEXT NOT NULL,"
      "  stamp INTEGER NOT NULL, version TEXT NOT NULL, server_updated_at TEXT);"
      "CREATE UNIQUE INDEX items_by_id ON items(id)");
  sqlite3_stmt *insert;
  check(sqlite3_prepare_v2(db,
      "INSERT INTO items(id, columns, stamp, version, server_updated_at)"
      " VALUES (?1, ?2, ?3, 'AAAAAAAAB9E=', '2026-01-01T00:00:00.000Z')", -1, &insert, 0), "insert");

  double start = now();
  for (long row = 0; row < count; row++) {
    char id[64], columns[128];
    snprintf(id, sizeof id, "%08x-0000-4000-8000-%012ld", (unsigned)row * 2654435761u, row);
    snprintf(columns, sizeof columns, "{\"text\":\"Todo %ld, as long as they are\",\"complete\":%s}",
             row, row % 2 ? "true" : "false");
    if (row % batch_rows == 0) run("BEGIN IMMEDIATE");
    sqlite3_bind_text(insert, 1, id, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, columns, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, 1700000000000 + row);
    check(sqlite3_step(insert), "insert");
    check(sqlite3_reset(insert), "insert");
    if (row % batch_rows == batch_rows - 1 || row == count - 1) run("COMMIT");
  }
  printf("{\"count\": %ld, \"seconds\": %.6f}\n", count, now() - start);
  return 0;
}
