// Bare libcurl sending inserts: N at a time over kept-alive connections.
//
//   bare-push URL COUNT PARALLEL [FILE [own] | rows]
//
// URL is a table's, such as http://127.0.0.1:8081/tables/todoitem. Requests have the fields and the
// body that the proxy sends. Every answer must be 201. Also fills the proxy's queue, and with `rows` a
// backend, whose rows then have the ids of quiet-backend's.
//
// With FILE, which must not exist, the operations stand in a SQLite file, WAL and synchronous=FULL. Each
// is in two transactions: it is marked before it is sent, up to 64 ahead, and its answer is recorded. One
// thread writes all that waits in one transaction, as the proxy does. With `own`, each of the two is a
// transaction of its own.

#include <curl/curl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct transfer {
  CURL *easy;
  long number;
  struct curl_slist *fields;
  char body[256];
};

static unsigned run_id;  // Makes the ids of this run its own.
static bool as_rows;     // Whether they are those of quiet-backend's rows.

enum { marked_ahead = 64 };

static CURLM *multi;
static sqlite3 *db;
// What the two threads tell each other. Operations have the numbers from 0 on.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static long wanted, marked;              // The operations below are to be marked, and are.
static long *answered;                   // The numbers of those that were answered, in that order,
static long answers, recorded;           // how many these are, and how many are on disk.

static void check(int code, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "bare-push: %s: %s\n", what, sqlite3_errmsg(db));
  exit(1);
}

static void sql(const char *text) { check(sqlite3_exec(db, text, 0, 0, 0), text); }

static sqlite3_stmt *prepared(const char *text) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(db, text, -1, &statement, 0), text);
  return statement;
}

static void run(sqlite3_stmt *statement, long number) {
  sqlite3_bind_int64(statement, 1, number);
  check(sqlite3_step(statement), sqlite3_sql(statement));
  check(sqlite3_reset(statement), sqlite3_sql(statement));
}

// Makes the file with its operations, before the clock starts.
static void keep(const char *file, long count) {
  check(sqlite3_open(file, &db), "open");
  sql("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "CREATE TABLE operations(number INTEGER PRIMARY KEY, state TEXT NOT NULL, status INTEGER);"
      "BEGIN");
  sqlite3_stmt *insert = prepared("INSERT INTO operations VALUES (?1, 'queued', NULL)");
  for (long number = 0; number < count; number++) run(insert, number);
  sqlite3_finalize(insert);
  sql("COMMIT");
}

// Whether a transaction marks one operation, or records one answer, and does nothing else.
static bool own;

static void *write_all(void *context) {
  long count = *(long *)context;
  sqlite3_stmt *mark = prepared("UPDATE operations SET state = 'sending' WHERE number = ?1");
  sqlite3_stmt *record =
      prepared("UPDATE operations SET state = 'done', status = 201 WHERE number = ?1");
  pthread_mutex_lock(&lock);
  while (recorded < count) {
    while (wanted == marked && answers == recorded) pthread_cond_wait(&wake, &lock);
    long first = marked, last = wanted, from = recorded, to = answers;
    if (own && first < last) last = first + 1, to = from;
    if (own && from < to) to = from + 1;
    pthread_mutex_unlock(&lock);
    sql("BEGIN IMMEDIATE");
    for (long number = first; number < last; number++) run(mark, number);
    for (long place = from; place < to; place++) run(record, answered[place]);
    sql("COMMIT");
    pthread_mutex_lock(&lock);
    marked = last, recorded = to;
    curl_multi_wakeup(multi);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

#define TEXT "\"text\":\"Todo %ld, as long as they are\",\"complete\":%s}"

// The request of insert `number`; its id is a UUID whose parts do not come in order.
static void prepare(struct transfer *t, const char *url, long number) {
  unsigned scattered = (unsigned)number * 2654435761u;
  char key[80];
  t->number = number;
  snprintf(t->body, sizeof t->body,
           as_rows ? "{\"id\":\"%08x-%04x-4%03x-8000-%012ld\"," TEXT
                   : "{\"id\":\"%08x-%04x-4%03x-8000-%012lx\"," TEXT,
           scattered, run_id & 0xffff, run_id >> 16 & 0xfff, number, number,
           number % 2 ? "true" : "false");
  snprintf(key, sizeof key, "Idempotency-Key: %08x-%04x-7%03x-9000-%012lx", scattered,
           run_id & 0xffff, run_id >> 16 & 0xfff, number);
  curl_slist_free_all(t->fields);
  t->fields = curl_slist_append(NULL, key);
  curl_slist_append(t->fields, "Accept: application/json");
  curl_slist_append(t->fields, "ZUMO-API-VERSION: 2.0.0");
  curl_slist_append(t->fields, "Content-Type: application/json");
  curl_easy_setopt(t->easy, CURLOPT_URL, url);
  curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->fields);
  curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, t->body);
  curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(t->body));
  curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "understudy/1.0.0");
  curl_easy_setopt(t->easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
}

int main(int argc, char **argv) {
  if (argc < 4 || argc > 6 || (argc == 6 && strcmp(argv[5], "own") != 0)) return 2;
  own = argc == 6;
  as_rows = argc == 5 && strcmp(argv[4], "rows") == 0;
  const char *url = argv[1];
  long count = atol(argv[2]), parallel = atol(argv[3]), begun = 0, done = 0, kept = 0, idle = 0;
  run_id = as_rows ? 0 : (unsigned)time(NULL) * 31u + (unsigned)clock();
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, parallel);
  struct transfer *transfers = calloc((size_t)parallel, sizeof *transfers);
  struct transfer **free_ones = calloc((size_t)parallel, sizeof *free_ones);
  for (; idle < parallel; idle++) {
    transfers[idle].easy = curl_easy_init();
    free_ones[idle] = &transfers[idle];
  }
  answered = calloc((size_t)count, sizeof *answered);
  if (argc >= 5 && !as_rows) keep(argv[4], count);

  double start = now();
  pthread_t writer;
  if (db) pthread_create(&writer, NULL, write_all, &count);
  while (done < count || kept < count) {
    pthread_mutex_lock(&lock);
    if (!db) marked = count, recorded = answers;
    kept = recorded;
    wanted = begun + marked_ahead < count ? begun + marked_ahead : count;
    if (wanted < marked) wanted = marked;
    long ready = marked;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    for (; idle > 0 && begun < ready; begun++) {
      struct transfer *t = free_ones[--idle];
      prepare(t, url, begun);
      curl_multi_add_handle(multi, t->easy);
    }
    int running, left;
    long before = done;
    CURLMsg *message;
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left))) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL *easy = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result != CURLE_OK || status != 201) {
        fprintf(stderr, "bare-push: status %ld, %s\n", status,
                curl_easy_strerror(message->data.result));
        return 1;
      }
      struct transfer *t;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
      curl_multi_remove_handle(multi, easy);
      free_ones[idle++] = t;
      pthread_mutex_lock(&lock);
      answered[answers++] = t->number;
      pthread_mutex_unlock(&lock);
      done++;
    }
    // What was answered is recorded, and its places are filled, before anything is waited for.
    if (done == before && (done < count || kept < count)) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  if (db) pthread_join(writer, NULL);
  printf("{\"count\": %ld, \"seconds\": %.6f}\n", done, now() - start);
  return 0;
}
