// Bare libcurl and SQLite pulling a table: the pages that the proxy asks for, one after another over
// one connection, each put into the store by one json_each insert for every 500 rows.
//
//   bare-pull URL PAGE_ROWS STORE
//
// URL is a table's. STORE is a copy of the proxy's empty store, so that rows have the same schema,
// indexes and triggers; WAL and synchronous=FULL, a transaction for each 500 rows at most.

#include <curl/curl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { batch_rows = 500 };

static sqlite3 *db;
static char *page;
static size_t length, room;

static void check(int code, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "bare-pull: %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  if (length + size * count + 1 > room) page = realloc(page, room = (length + size * count) * 2 + 1);
  memcpy(page + length, bytes, size * count);
  length += size * count;
  page[length] = 0;
  return size * count;
}

static void download(CURL *easy, const char *url) {
  long status = 0;
  length = 0;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK && status == 200) return;
  fprintf(stderr, "bare-pull: status %ld, %s\n", status, curl_easy_strerror(code));
  exit(1);
}

// The text of a member of the page's last row, which begins at `row`.
static void member(const char *row, const char *name, char value[64]) {
  const char *start = strstr(row, name);
  value[0] = 0;
  if (start && (start = strchr(start + strlen(name), ':'))) sscanf(start, ":\"%63[^\"]", value);
}

// The address of the page behind the last row of this one.
static void next_address(const char *table, long top, char *url, size_t size) {
  char id[64], time[64];
  const char *row = page + length;
  while (row > page && strncmp(row, "{\"id\"", 5)) row--;
  member(row, "\"id\"", id);
  member(row, "\"updatedAt\"", time);
  snprintf(url, size,
           "%s?$filter=(updatedAt%%20gt%%20datetimeoffset'%s')%%20or%%20((updatedAt%%20eq%%20"
           "datetimeoffset'%s')%%20and%%20(id%%20gt%%20'%s'))&$orderby=updatedAt,id&$top=%ld"
           "&__includeDeleted=true", table, time, time, id, top);
}

static long run(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), sqlite3_sql(statement));
  check(sqlite3_reset(statement), sqlite3_sql(statement));
  return sqlite3_changes(db);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *table = argv[1];
  long top = atol(argv[2]), rows = 0, pages = 0;
  check(sqlite3_open(argv[3], &db), "open");
  check(sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                     "PRAGMA cache_size=-16384;"
                     "INSERT OR IGNORE INTO tables(id, name, name_key) "
                     "VALUES (1, 'todoitem', 'todoitem')", 0, 0, 0), "pragma");
  sqlite3_stmt *begin, *insert, *commit;
  check(sqlite3_prepare_v2(db, "BEGIN IMMEDIATE", -1, &begin, 0), "begin");
  check(sqlite3_prepare_v2(db, "COMMIT", -1, &commit, 0), "commit");
  // `key` is the row's place in the page; stamps follow it as the proxy's do.
  check(sqlite3_prepare_v2(db,
      "INSERT INTO items(table_id, id, columns, created_at, stamp, version, deleted,"
      "  server_version, server_updated_at)"
      " SELECT 1, value->>'id',"
      "  json_remove(value,'$.id','$.createdAt','$.updatedAt','$.version','$.deleted'),"
      "  CAST(unixepoch(value->>'createdAt') AS INTEGER) * 1000, ?2 + key, value->>'version',"
      "  value->>'deleted', value->>'version', value->>'updatedAt'"
      " FROM json_each(?1) WHERE key >= ?3 AND key < ?4", -1, &insert, 0), "insert");

  CURL *easy = curl_easy_init();
  struct curl_slist *fields = curl_slist_append(NULL, "Accept: application/json");
  curl_slist_append(fields, "ZUMO-API-VERSION: 2.0.0");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "understudy/1.0.0");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);

  char url[1024];
  snprintf(url, sizeof url, "%s?$orderby=updatedAt,id&$top=%ld&__includeDeleted=true", table, top);
  double began = now();
  for (;;) {
    download(easy, url);
    pages++;
    if (strcmp(page, "[]") == 0) break;
    sqlite3_bind_text(insert, 1, page, (int)length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)(began * 1000) + rows);
    long taken = 0, batch;
    do {
      sqlite3_bind_int64(insert, 3, taken);
      sqlite3_bind_int64(insert, 4, taken + batch_rows);
      run(begin);
      batch = run(insert);
      run(commit);
      taken += batch;
    } while (batch == batch_rows && taken < top);
    rows += taken;
    next_address(table, top, url, sizeof url);
  }
  printf("{\"count\": %ld, \"seconds\": %.6f, \"pages\": %ld}\n", rows, now() - began, pages);
  return 0;
}
