// The bare server that `understudy-site` is measured against: libmicrohttpd's epoll pool, and for each of
// its threads a connection of SQLite or libpq with prepared statements.
//
//   bare-backend sqlite FILE PLAN THREADS
//   bare-backend postgresql URL PLAN THREADS
//
// Prints the port that it listens on. FILE and URL name a copy of the backend's database. PLAN is a folder:
//   item.sql, list.sql, insert.sql   all statements of the backend's own request, each followed by a line
//                                    "--", with {id}, {ms} and {ticks} for values that differ
//   item.headers, list.headers, insert.headers   lines "Name: value" that go with each answer
// POST is an insert, a path with three parts an item, everything else the list. A statement whose rows have
// six columns gives items. Bodies are those of the backend; the harness compares them before it measures.

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <microhttpd.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The backend asks for one row more, to know whether more follow, and does not answer with it.
enum { page_rows = 50 };
enum { item_columns = 6, most_statements = 16, most_values = 16, most_headers = 16, value_bytes = 64 };
// 0001-01-01 to 1970-01-01 in ticks of 100 ns.
static const long long epoch_ticks = 621355968000000000;

enum value { id_value, ms_value, ticks_value, value_kinds };
static const char *const tokens[value_kinds] = {"{id}", "{ms}", "{ticks}"};

enum kind { item, list, insert, request_kinds };
static const char *const names[request_kinds] = {"item", "list", "insert"};

struct statement { char text[8192]; enum value values[most_values]; int count; };
struct request {
  struct statement statements[most_statements];
  int count;
  char *name[most_headers], *header[most_headers];
  int headers;
};

static struct request requests[request_kinds];
static bool on_sqlite;
static const char *place;
// SQLite has one writer at a time; those that wait here need not try again and again.
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

// What belongs to a thread.
static __thread sqlite3 *db;
static __thread sqlite3_stmt *prepared[request_kinds][most_statements];
static __thread PGconn *line;
static __thread char values[value_kinds][value_bytes];
static __thread char *body;
static __thread size_t length, room;
static __thread int items;
static __thread char etag[256];

static void fail(const char *what, const char *why) {
  fprintf(stderr, "bare-backend: %s: %s\n", what, why);
  exit(1);
}

// MARK: The plan

static char *read_file(const char *folder, const char *name, const char *end) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s", folder, name, end);
  FILE *file = fopen(path, "r");
  if (!file) { perror(path); exit(1); }
  char *text = calloc(1, 65536);
  if (fread(text, 1, 65535, file) == 0) text[0] = 0;
  fclose(file);
  return text;
}

// The text with a parameter of the database for each token.
static void read_statement(struct statement *statement, const char *text) {
  char *end = statement->text;
  while (*text) {
    int token = 0;
    while (token < value_kinds && strncmp(text, tokens[token], strlen(tokens[token]))) token++;
    if (end - statement->text > (long)sizeof statement->text - 16) fail("plan", "too long");
    if (token == value_kinds) { *end++ = *text++; continue; }
    if (statement->count == most_values) fail("plan", "too many values");
    statement->values[statement->count++] = (enum value)token;
    end += on_sqlite ? sprintf(end, "?") : sprintf(end, "$%d", statement->count);
    text += strlen(tokens[token]);
  }
}

static void read_request(struct request *request, const char *folder, const char *name) {
  char *text = read_file(folder, name, "sql"), *end;
  for (; (end = strstr(text, "\n--\n")); text = end + 4) {
    *end = 0;
    if (request->count == most_statements) fail("plan", "too many statements");
    read_statement(&request->statements[request->count++], text);
  }
  char *rest = read_file(folder, name, "headers"), *one;
  while ((one = strsep(&rest, "\n")) && request->headers < most_headers) {
    char *colon = strstr(one, ": ");
    if (!colon) continue;
    *colon = 0;
    request->name[request->headers] = one;
    request->header[request->headers++] = colon + 2;
  }
}

// MARK: The body

static void add(const void *bytes, size_t count) {
  if (length + count > room) body = realloc(body, room = (length + count) * 2 + 1024);
  memcpy(body + length, bytes, count);
  length += count;
}

#define ADD(text) add(text, sizeof(text) - 1)

static char *digits(char *end, long long number, int count) {
  for (int i = count - 1; i >= 0; i--, number /= 10) end[i] = (char)('0' + number % 10);
  return end + count;
}

// Ticks as "2024-01-01T00:00:00.000Z" (days to civil date: Hinnant).
static void add_instant(long long ticks) {
  long long ms = (ticks - epoch_ticks) / 10000, days = ms / 86400000, rest = ms % 86400000;
  long long shifted = days + 719468, era = shifted / 146097, day = shifted - era * 146097;
  long long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  long long of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  long long m = month < 10 ? month + 3 : month - 9;
  char text[32], *end = text;
  *end++ = '"';
  end = digits(end, year + era * 400 + (m <= 2), 4), *end++ = '-';
  end = digits(end, m, 2), *end++ = '-';
  end = digits(end, of_year - (153 * month + 2) / 5 + 1, 2), *end++ = 'T';
  end = digits(end, rest / 3600000, 2), *end++ = ':';
  end = digits(end, rest / 60000 % 60, 2), *end++ = ':';
  end = digits(end, rest / 1000 % 60, 2), *end++ = '.';
  end = digits(end, rest % 1000, 3), *end++ = 'Z', *end++ = '"';
  add(text, (size_t)(end - text));
}

// id, columns, created_ticks, stamp_ticks, version, deleted: the order in which the backend selects them.
static void add_item(const char *const text[item_columns], const int lengths[item_columns]) {
  if (items == page_rows) return;
  if (items++) ADD(",");
  ADD("{\"id\":\"");
  add(text[0], (size_t)lengths[0]);
  ADD("\"");
  if (lengths[1] > 2) {
    ADD(",");
    add(text[1] + 1, (size_t)lengths[1] - 2);
  }
  ADD(",\"createdAt\":");
  add_instant(atoll(text[2]));
  ADD(",\"updatedAt\":");
  add_instant(atoll(text[3]));
  ADD(",\"version\":\"");
  add(text[4], (size_t)lengths[4]);
  ADD("\",\"deleted\":");
  if (*text[5] == '1' || *text[5] == 't') ADD("true"); else ADD("false");
  ADD("}");
  snprintf(etag, sizeof etag, "\"%.*s\"", lengths[4], text[4]);
}

// MARK: SQLite

// The version of a row that was written so often: the number in decimal, base64.
static void counted_version(sqlite3_context *context, int count, sqlite3_value **arguments) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  (void)count;
  const unsigned char *text = sqlite3_value_text(arguments[0]);
  int bytes = sqlite3_value_bytes(arguments[0]);
  char coded[64], *end = coded;
  for (int i = 0; i < bytes; i += 3) {
    unsigned part = (unsigned)text[i] << 16 | (i + 1 < bytes ? (unsigned)text[i + 1] << 8 : 0) |
                    (i + 2 < bytes ? (unsigned)text[i + 2] : 0);
    *end++ = letters[part >> 18], *end++ = letters[part >> 12 & 63];
    *end++ = i + 1 < bytes ? letters[part >> 6 & 63] : '=';
    *end++ = i + 2 < bytes ? letters[part & 63] : '=';
  }
  sqlite3_result_text(context, coded, (int)(end - coded), SQLITE_TRANSIENT);
}

static void open_sqlite(void) {
  if (sqlite3_open(place, &db) ||
      sqlite3_exec(db, "PRAGMA busy_timeout=10000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                       "PRAGMA foreign_keys=ON; PRAGMA cache_size=-32768", 0, 0, 0) ||
      sqlite3_create_function(db, "counted_version", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, 0,
                              counted_version, 0, 0))
    fail(place, sqlite3_errmsg(db));
  for (int kind = 0; kind < request_kinds; kind++)
    for (int i = 0; i < requests[kind].count; i++) {
      const char *text = requests[kind].statements[i].text;
      if (sqlite3_prepare_v2(db, text, -1, &prepared[kind][i], 0)) fail(text, sqlite3_errmsg(db));
    }
}

static void run_sqlite(enum kind kind, int number) {
  struct statement *statement = &requests[kind].statements[number];
  sqlite3_stmt *step = prepared[kind][number];
  for (int i = 0; i < statement->count; i++) {
    const char *value = values[statement->values[i]];
    if (statement->values[i] == id_value) sqlite3_bind_text(step, i + 1, value, -1, SQLITE_STATIC);
    else sqlite3_bind_int64(step, i + 1, atoll(value));
  }
  int code;
  while ((code = sqlite3_step(step)) == SQLITE_ROW) {
    if (sqlite3_column_count(step) != item_columns) continue;
    const char *text[item_columns];
    int lengths[item_columns];
    for (int i = 0; i < item_columns; i++) {
      text[i] = (const char *)sqlite3_column_text(step, i);
      lengths[i] = sqlite3_column_bytes(step, i);
    }
    add_item(text, lengths);
  }
  if (code != SQLITE_DONE) fail(statement->text, sqlite3_errmsg(db));
  sqlite3_reset(step);
}

// MARK: PostgreSQL

static PGresult *checked(PGresult *result, const char *what) {
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(what, PQerrorMessage(line));
  return result;
}

static void open_postgresql(void) {
  line = PQconnectdb(place);
  if (PQstatus(line) != CONNECTION_OK) fail(place, PQerrorMessage(line));
  PQclear(checked(PQexec(line, "SET search_path = understudy"), "search_path"));
  PQclear(checked(PQexec(line, "SET jit = off"), "jit"));
  for (int kind = 0; kind < request_kinds; kind++)
    for (int i = 0; i < requests[kind].count; i++) {
      const char *text = requests[kind].statements[i].text;
      char name[32];
      snprintf(name, sizeof name, "%s%d", names[kind], i);
      PQclear(checked(PQprepare(line, name, text, 0, NULL), text));
    }
}

static void run_postgresql(enum kind kind, int number) {
  struct statement *statement = &requests[kind].statements[number];
  char name[32];
  snprintf(name, sizeof name, "%s%d", names[kind], number);
  const char *given[most_values];
  for (int i = 0; i < statement->count; i++) given[i] = values[statement->values[i]];
  PGresult *result = checked(
      PQexecPrepared(line, name, statement->count, given, NULL, NULL, 0), statement->text);
  for (int row = 0; PQnfields(result) == item_columns && row < PQntuples(result); row++) {
    const char *text[item_columns];
    int lengths[item_columns];
    for (int i = 0; i < item_columns; i++) {
      text[i] = PQgetvalue(result, row, i);
      lengths[i] = PQgetlength(result, row, i);
    }
    add_item(text, lengths);
  }
  PQclear(result);
}

// MARK: Requests

// A random UUID, and the time.
static void make_values(void) {
  unsigned char random[16];
  sqlite3_randomness(sizeof random, random);
  char *end = values[id_value];
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *end++ = '-';
    end += sprintf(end, "%02x", random[i]);
  }
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  long long ms = t.tv_sec * 1000LL + t.tv_nsec / 1000000;
  snprintf(values[ms_value], value_bytes, "%lld", ms);
  snprintf(values[ticks_value], value_bytes, "%lld", epoch_ticks + ms * 10000);
}

static enum MHD_Result respond(struct MHD_Connection *connection, enum kind kind) {
  if (!db && !line) {
    if (on_sqlite) open_sqlite(); else open_postgresql();
  }
  length = 0, items = 0;
  if (kind == list) ADD("[");
  bool waits = on_sqlite && kind == insert;
  if (waits) pthread_mutex_lock(&writing);
  // Stamps are in the order of the writes.
  if (kind == insert) make_values();
  for (int i = 0; i < requests[kind].count; i++) {
    if (on_sqlite) run_sqlite(kind, i); else run_postgresql(kind, i);
  }
  if (waits) pthread_mutex_unlock(&writing);
  if (kind == list) ADD("]");
  unsigned status = kind == list || items == 1 ? (kind == insert ? 201 : 200) : 404;
  struct MHD_Response *response =
      MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_COPY);
  for (int i = 0; i < requests[kind].headers; i++)
    MHD_add_response_header(response, requests[kind].name[i], requests[kind].header[i]);
  if (kind != list && items) MHD_add_response_header(response, "ETag", etag);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

// The first call for a request only marks it; answering there would close the connection.
static enum MHD_Result answer(void *server, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context) {
  static int seen;
  (void)server, (void)version, (void)data;
  if (!*context) {
    *context = &seen;
    return MHD_YES;
  }
  if (*size) {
    *size = 0;
    return MHD_YES;
  }
  if (strcmp(method, "POST") == 0) return respond(connection, insert);
  const char *last = strrchr(url, '/');
  if (strncmp(url, "/tables/", 8) || last <= url + 7) return respond(connection, list);
  snprintf(values[id_value], value_bytes, "%s", last + 1);
  return respond(connection, item);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  on_sqlite = strcmp(argv[1], "sqlite") == 0;
  place = argv[2];
  for (int kind = 0; kind < request_kinds; kind++)
    read_request(&requests[kind], argv[3], names[kind]);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct MHD_Daemon *server = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, NULL,
      MHD_OPTION_THREAD_POOL_SIZE, (unsigned)atoi(argv[4]), MHD_OPTION_SOCK_ADDR,
      (struct sockaddr *)&address, MHD_OPTION_END);
  if (!server) return 1;
  printf("%d\n", MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  for (;;) pause();
}
