// The bare server that reads are measured against: libmicrohttpd's epoll pool with a thread for each
// core, and for each thread a SQLite connection and prepared statements of its own.
//
//   bare-server STORE PLAN
//
// Prints the port that it listens on. STORE is a copy of the proxy's store. PLAN is a folder:
//   by-id.sql        the proxy's own query for one item, with ?1 for the id
//   list.sql         the proxy's own query for the list
//   by-id.headers, list.headers   lines "Name: value" that go with each answer
// A path with three parts is an item, everything else is the list. Bodies are those of the proxy,
// byte for byte; the harness compares them before it measures.

#include <arpa/inet.h>
#include <microhttpd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The proxy asks for one row more, to know whether more follow, and does not answer with it.
enum { page_rows = 50, most_headers = 16 };

struct headers { char *name[most_headers], *value[most_headers]; int count; };

static const char *store_path;
static char *by_id_sql, *list_sql;
static struct headers by_id_headers, list_headers;

// What belongs to a thread.
static __thread sqlite3 *db;
static __thread sqlite3_stmt *by_id, *list;
static __thread char *body;
static __thread size_t length, room;

static char *read_file(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (!file) { perror(path); exit(1); }
  char *text = calloc(1, 65536);
  if (fread(text, 1, 65535, file) == 0) text[0] = 0;
  fclose(file);
  return text;
}

static struct headers read_headers(const char *folder, const char *name) {
  struct headers headers = {.count = 0};
  char *rest = read_file(folder, name), *one;
  while ((one = strsep(&rest, "\n")) && headers.count < most_headers) {
    char *colon = strstr(one, ": ");
    if (!colon) continue;
    *colon = 0;
    headers.name[headers.count] = one;
    headers.value[headers.count++] = colon + 2;
  }
  return headers;
}

static void open_store(void) {
  if (sqlite3_open_v2(store_path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ||
      sqlite3_prepare_v3(db, by_id_sql, -1, SQLITE_PREPARE_PERSISTENT, &by_id, NULL) ||
      sqlite3_prepare_v3(db, list_sql, -1, SQLITE_PREPARE_PERSISTENT, &list, NULL)) {
    fprintf(stderr, "bare-server: %s\n", sqlite3_errmsg(db));
    exit(1);
  }
}

static void add(const void *bytes, size_t count) {
  if (length + count > room) body = realloc(body, room = (length + count) * 2 + 1024);
  memcpy(body + length, bytes, count);
  length += count;
}

#define ADD(text) add(text, sizeof(text) - 1)

static void add_column(sqlite3_stmt *row, int column) {
  const void *text = sqlite3_column_text(row, column);
  add(text, (size_t)sqlite3_column_bytes(row, column));
}

// Milliseconds since 1970 as 2024-01-01T00:00:00.000Z (days to civil date: Hinnant).
static void add_instant(long long ms) {
  char text[64];
  long long days = ms / 86400000, rest = ms % 86400000, shifted = days + 719468;
  long long era = shifted / 146097, day = shifted - era * 146097;
  long long year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  long long of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  int d = (int)(of_year - (153 * month + 2) / 5 + 1), m = (int)(month < 10 ? month + 3 : month - 9);
  int y = (int)(year + era * 400 + (m <= 2));
  int h = (int)(rest / 3600000), min = (int)(rest / 60000 % 60), s = (int)(rest / 1000 % 60);
  int f = (int)(rest % 1000);
  // Digit by digit, since printf would be most of the work.
  char *p = text;
  *p++ = '"';
  *p++ = (char)('0' + y / 1000); *p++ = (char)('0' + y / 100 % 10);
  *p++ = (char)('0' + y / 10 % 10); *p++ = (char)('0' + y % 10); *p++ = '-';
  *p++ = (char)('0' + m / 10); *p++ = (char)('0' + m % 10); *p++ = '-';
  *p++ = (char)('0' + d / 10); *p++ = (char)('0' + d % 10); *p++ = 'T';
  *p++ = (char)('0' + h / 10); *p++ = (char)('0' + h % 10); *p++ = ':';
  *p++ = (char)('0' + min / 10); *p++ = (char)('0' + min % 10); *p++ = ':';
  *p++ = (char)('0' + s / 10); *p++ = (char)('0' + s % 10); *p++ = '.';
  *p++ = (char)('0' + f / 100); *p++ = (char)('0' + f / 10 % 10); *p++ = (char)('0' + f % 10);
  *p++ = 'Z'; *p++ = '"';
  add(text, (size_t)(p - text));
}

// id, columns, created_at, stamp, version, deleted: the order in which the proxy selects them.
static void add_item(sqlite3_stmt *row) {
  ADD("{\"id\":\"");
  add_column(row, 0);
  ADD("\"");
  int columns = sqlite3_column_bytes(row, 1);
  if (columns > 2) {
    ADD(",");
    add((const char *)sqlite3_column_text(row, 1) + 1, (size_t)columns - 2);
  }
  ADD(",\"createdAt\":");
  add_instant(sqlite3_column_int64(row, sqlite3_column_type(row, 2) == SQLITE_NULL ? 3 : 2));
  ADD(",\"updatedAt\":");
  add_instant(sqlite3_column_int64(row, 3));
  ADD(",\"version\":\"");
  add_column(row, 4);
  ADD("\",\"deleted\":");
  if (sqlite3_column_int(row, 5)) ADD("true"); else ADD("false");
  ADD("}");
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status,
                               const struct headers *headers, const char *etag) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_COPY);
  for (int i = 0; i < headers->count; i++)
    MHD_add_response_header(response, headers->name[i], headers->value[i]);
  if (etag) MHD_add_response_header(response, "ETag", etag);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result answer_item(struct MHD_Connection *connection, const char *id) {
  char etag[256];
  unsigned status = 404;
  sqlite3_bind_text(by_id, 1, id, -1, SQLITE_STATIC);
  if (sqlite3_step(by_id) == SQLITE_ROW) {
    add_item(by_id);
    snprintf(etag, sizeof etag, "\"%s\"", sqlite3_column_text(by_id, 4));
    status = 200;
  }
  sqlite3_reset(by_id);
  return respond(connection, status, &by_id_headers, status == 200 ? etag : NULL);
}

static enum MHD_Result answer_list(struct MHD_Connection *connection) {
  ADD("[");
  for (int rows = 0; sqlite3_step(list) == SQLITE_ROW && rows < page_rows; rows++) {
    if (rows) ADD(",");
    add_item(list);
  }
  ADD("]");
  sqlite3_reset(list);
  return respond(connection, 200, &list_headers, NULL);
}

// The first call for a request only marks it; answering there would close the connection.
static enum MHD_Result answer(void *server, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context) {
  static int seen;
  (void)server, (void)method, (void)version, (void)data, (void)size;
  if (!*context) {
    *context = &seen;
    return MHD_YES;
  }
  if (!db) open_store();
  length = 0;
  const char *last = strrchr(url, '/');
  return strncmp(url, "/tables/", 8) == 0 && last > url + 7 ? answer_item(connection, last + 1)
                                                            : answer_list(connection);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  store_path = argv[1];
  by_id_sql = read_file(argv[2], "by-id.sql");
  list_sql = read_file(argv[2], "list.sql");
  by_id_headers = read_headers(argv[2], "by-id.headers");
  list_headers = read_headers(argv[2], "list.headers");
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct MHD_Daemon *server = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, NULL,
      MHD_OPTION_THREAD_POOL_SIZE, (unsigned)sysconf(_SC_NPROCESSORS_ONLN), MHD_OPTION_SOCK_ADDR,
      (struct sockaddr *)&address, MHD_OPTION_END);
  if (!server) return 1;
  printf("%d\n", MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  for (;;) pause();
}
