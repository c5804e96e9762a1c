// Bare SQLite making the same durable writes as the proxy: its statements, one transaction each.
//
//   bare-insert STORE STATEMENTS SECONDS
//
// STORE is a copy of the proxy's store. STATEMENTS has the statements of one write, each followed by
// a line "--", with ?1 for a new item id, ?2 for a new operation id and ?3 for the time in ms. Every
// transaction is one write, with WAL and synchronous=FULL.

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_statements = 32 };

static sqlite3 *db;

static void check(int code, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "bare-insert: %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

// A UUID, random but for its first 48 bits, which are the time where `ms` is given: the proxy's
// operation ids are in order, its item ids are not.
static void make_id(char id[37], unsigned long long ms) {
  unsigned char random[16];
  sqlite3_randomness(sizeof random, random);
  for (int i = 0; ms && i < 6; i++) random[i] = (unsigned char)(ms >> (40 - 8 * i));
  char *end = id;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *end++ = '-';
    end += sprintf(end, "%02x", random[i]);
  }
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) { perror(path); exit(1); }
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)length + 1);
  if (fread(text, 1, (size_t)length, file) != (size_t)length) exit(1);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  check(sqlite3_open(argv[1], &db), "open");
  check(sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                         "PRAGMA foreign_keys=ON; PRAGMA cache_size=-16384", 0, 0, 0), "pragma");

  sqlite3_stmt *write[most_statements], *begin, *commit;
  int statements = 0;
  char *text = read_file(argv[2]);
  for (char *end; (end = strstr(text, "\n--\n")) && statements < most_statements; text = end + 4) {
    *end = 0;
    check(sqlite3_prepare_v2(db, text, -1, &write[statements++], 0), text);
  }
  check(sqlite3_prepare_v2(db, "BEGIN IMMEDIATE", -1, &begin, 0), "begin");
  check(sqlite3_prepare_v2(db, "COMMIT", -1, &commit, 0), "commit");

  double began = now(), seconds = atof(argv[3]), time;
  long count = 0;
  for (; (time = now()) - began < seconds; count++) {
    char item[37], operation[37];
    unsigned long long ms = (unsigned long long)(time * 1000);
    make_id(item, 0);
    make_id(operation, ms);
    check(sqlite3_step(begin), "begin");
    sqlite3_reset(begin);
    for (int i = 0; i < statements; i++) {
      int parameters = sqlite3_bind_parameter_count(write[i]);
      if (parameters > 0) sqlite3_bind_text(write[i], 1, item, -1, SQLITE_STATIC);
      if (parameters > 1) sqlite3_bind_text(write[i], 2, operation, -1, SQLITE_STATIC);
      if (parameters > 2) sqlite3_bind_int64(write[i], 3, (sqlite3_int64)ms);
      int code;
      while ((code = sqlite3_step(write[i])) == SQLITE_ROW) {}
      check(code, sqlite3_sql(write[i]));
      sqlite3_reset(write[i]);
    }
    check(sqlite3_step(commit), "commit");
    sqlite3_reset(commit);
  }
  printf("{\"count\": %ld, \"seconds\": %.6f}\n", count, now() - began);
  return 0;
}
