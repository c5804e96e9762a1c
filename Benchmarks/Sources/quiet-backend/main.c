// A backend that costs next to nothing, so that it is not what is measured.
//
//   quiet-backend PORT ROWS LATENCY_MS [in-order]
//
// Prints the port that it listens on; PORT 0 takes a free one. Speaks as much of /tables (second generation) as push and pull
// need. Its rows are computed, not kept: row n was changed n ms after 2024-01-01T00:00:00Z, and its id
// is n in decimal behind a part that scatters, so that ids lie in an index as random UUIDs do; with
// in-order it does not, and they come as they lie there.
//   GET  list: by keyset on (updatedAt, id), from an updatedAt, by $skip; $top rows, at most 1,000
//   GET  $filter=id eq '…': that row alone, or none
//   POST insert: 201 with the item and system properties; nothing is kept
// Answers wait LATENCY_MS in a line of suspended connections, so that no thread waits with them.

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// What stands in every id before its number.
#define ID_MARK "-0000-4000-8000-"
enum { most_rows = 1000, row_bytes = 384, most_body = 64 * 1024, most_waiting = 4096 };

static long rows;
// Multiplied with n, it is the first part of n's id: odd, so that no two are the same.
static unsigned scatter = 2654435761u;
static long latency_ns;

struct call {
  char body[most_body];
  size_t length;
  int has_waited;
};

// The line of answers that wait; the latency is the same for all, so the first is always the next.
static struct { struct MHD_Connection *connection; long due; } line[most_waiting];
static unsigned long line_first, line_end;
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t line_filled = PTHREAD_COND_INITIALIZER;

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void wait_in_line(struct MHD_Connection *connection) {
  MHD_suspend_connection(connection);
  pthread_mutex_lock(&line_lock);
  line[line_end % most_waiting].connection = connection;
  line[line_end++ % most_waiting].due = now_ns() + latency_ns;
  pthread_cond_signal(&line_filled);
  pthread_mutex_unlock(&line_lock);
}

static void *resume_in_time(void *unused) {
  for (;;) {
    pthread_mutex_lock(&line_lock);
    while (line_first == line_end) pthread_cond_wait(&line_filled, &line_lock);
    struct MHD_Connection *connection = line[line_first % most_waiting].connection;
    long due = line[line_first++ % most_waiting].due;
    pthread_mutex_unlock(&line_lock);
    struct timespec time = {due / 1000000000L, due % 1000000000L};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    MHD_resume_connection(connection);
  }
  return unused;
}

static size_t write_row(char *text, long n) {
  char time[32];
  snprintf(time, sizeof time, "2024-01-01T%02ld:%02ld:%02ld.%03ldZ", n / 3600000 % 24,
           n / 60000 % 60, n / 1000 % 60, n % 1000);
  return (size_t)snprintf(
      text, row_bytes,
      "{\"id\":\"%08x" ID_MARK "%012ld\",\"text\":\"Todo %ld, as long as they are\","
      "\"complete\":%s,\"createdAt\":\"%s\",\"updatedAt\":\"%s\","
      "\"version\":\"%012ldAAAAAAAAAA==\",\"deleted\":false}",
      (unsigned)n * scatter, n, n, n % 2 ? "true" : "false", time, time, n);
}

// The row that a list begins with:
// 1. An id in the filter: the row behind it (keyset).
// 2. Else an instant in the filter: the first row that changed then or later.
// 3. Else the first row; $skip counts from there.
static long first_row(const char *query) {
  long start = 0, hours, minutes, seconds, milliseconds;
  const char *found;
  if ((found = strstr(query, ID_MARK))) {
    start = atol(found + strlen(ID_MARK)) + 1;
  } else if ((found = strstr(query, "datetimeoffset'")) &&
             sscanf(strchr(found, '\'') + 1, "2024-01-01T%ld:%ld:%ld.%ld", &hours, &minutes,
                    &seconds, &milliseconds) == 4) {
    start = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
  }
  if ((found = strstr(query, "$skip="))) start += atol(found + strlen("$skip="));
  return start;
}

static struct MHD_Response *list(const char *query) {
  static __thread char page[most_rows * row_bytes + 2];
  const char *found = strstr(query, "$top=");
  long top = found ? atol(found + strlen("$top=")) : 50, start = first_row(query);
  if (top > most_rows) top = most_rows;
  if (strstr(query, "$filter=id")) {
    top = strstr(query, ID_MARK) != NULL;
    start -= 1;
  }
  size_t length = 0;
  page[length++] = '[';
  for (long n = start; n < rows && n < start + top; n++) {
    if (n > start) page[length++] = ',';
    length += write_row(page + length, n);
  }
  page[length++] = ']';
  return MHD_create_response_from_buffer(length, page, MHD_RESPMEM_MUST_COPY);
}

// The item as it was sent, with system properties after it.
static struct MHD_Response *insert(const struct call *call) {
  static _Atomic long inserted;
  char answer[most_body + 256], time[32];
  struct timespec t;
  struct tm parts;
  clock_gettime(CLOCK_REALTIME, &t);
  strftime(time, sizeof time, "%FT%T", gmtime_r(&t.tv_sec, &parts));
  int length = snprintf(
      answer, sizeof answer,
      "%.*s,\"createdAt\":\"%s.%03ldZ\",\"updatedAt\":\"%s.%03ldZ\","
      "\"version\":\"%012ldBBBBBBBBBA==\",\"deleted\":false}",
      (int)call->length - 1, call->body, time, t.tv_nsec / 1000000, time, t.tv_nsec / 1000000,
      ++inserted);
  return MHD_create_response_from_buffer((size_t)length, answer, MHD_RESPMEM_MUST_COPY);
}

// The first call for a request only makes its context; answering there would close the connection.
static enum MHD_Result answer(void *server, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context) {
  (void)server, (void)url, (void)version;
  struct call *call = *context;
  if (!call) {
    *context = call = malloc(sizeof *call);
    call->length = 0;
    call->has_waited = 0;
    return MHD_YES;
  }
  if (*size) {
    if (call->length + *size > most_body) return MHD_NO;
    memcpy(call->body + call->length, data, *size);
    call->length += *size;
    *size = 0;
    return MHD_YES;
  }
  if (latency_ns && !call->has_waited) {
    call->has_waited = 1;
    wait_in_line(connection);
    return MHD_YES;
  }
  // Options as they stand in the target, put together again from what libmicrohttpd decoded.
  static __thread char query[16 * 1024];
  size_t length = 0;
  static const char *const options[] = {"$filter", "$top", "$skip"};
  for (size_t i = 0; i < 3; i++) {
    const char *value =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, options[i]);
    if (value) length += (size_t)snprintf(query + length, sizeof query - length, "%s=%s&",
                                          options[i], value);
    if (length >= sizeof query) return MHD_NO;
  }
  query[length] = 0;
  int is_insert = strcmp(method, "POST") == 0;
  struct MHD_Response *response = is_insert ? insert(call) : list(query);
  MHD_add_response_header(response, "Content-Type", "application/json; charset=utf-8");
  enum MHD_Result result = MHD_queue_response(connection, is_insert ? 201 : 200, response);
  MHD_destroy_response(response);
  return result;
}

static void forget(void *server, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode end) {
  (void)server, (void)connection, (void)end;
  free(*context);
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[4], "in-order") == 0) {
    scatter = 1;
  } else if (argc != 4) {
    return 2;
  }
  rows = atol(argv[2]);
  latency_ns = (long)(atof(argv[3]) * 1e6);
  pthread_t thread;
  pthread_create(&thread, NULL, resume_in_time, NULL);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)atoi(argv[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct MHD_Daemon *server = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
      answer, NULL, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
      MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, forget, NULL,
      MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_END);
  if (!server) return 1;
  printf("%d\n", MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  for (;;) pause();
}
