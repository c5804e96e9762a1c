// Two clients at a calm, even pace, one that reads and one that writes, each request timed.
//
//   paced-client URL REQUESTS_PER_SECOND SECONDS ROWS
//
// URL is a table's of the proxy, filled from quiet-backend with ROWS rows, of which reads take any.
// The pace is each client's; they are apart, so that no read waits behind a slow write.
// A load that asks as fast as it can would measure itself; this one leaves the machine to what runs
// beside it. Latency counts from when a request was due. Prints p50, p99 and the maximum in ms.

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct client { long requests; int writes; unsigned seed; double *ms; };

static const char *table;
static double pace;
static long rows;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static void ask(CURL *easy, const char *url, const char *body, long wanted) {
  long status = 0;
  curl_easy_setopt(easy, CURLOPT_URL, url);
  if (body) curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
  else curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK && status == wanted) return;
  fprintf(stderr, "paced-client: %s gave %ld, %s\n", url, status, curl_easy_strerror(code));
  exit(1);
}

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

// What one thread does: a read or a write, again and again.
static void *live(void *context) {
  struct client *c = context;
  CURL *easy = curl_easy_init();
  struct curl_slist *fields = curl_slist_append(NULL, "ZUMO-API-VERSION: 2.0.0");
  curl_slist_append(fields, "Content-Type: application/json");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  double began = now();
  for (long i = 0; i < c->requests; i++) {
    double due = began + i / pace, early = due - now();
    if (early > 0) {
      struct timespec pause = {(long)early, (long)((early - (long)early) * 1e9)};
      nanosleep(&pause, NULL);
    }
    if (c->writes) {
      ask(easy, table, "{\"text\":\"Written beside a pull\",\"complete\":false}", 201);
    } else {
      char url[512];
      long row = rand_r(&c->seed) % rows;
      snprintf(url, sizeof url, "%s/%08x-0000-4000-8000-%012ld", table,
               (unsigned)row * 2654435761u, row);
      ask(easy, url, NULL, 200);
    }
    c->ms[i] = (now() - due) * 1e3;
  }
  return NULL;
}

static void print(const char *name, struct client *c, const char *end) {
  qsort(c->ms, (size_t)c->requests, sizeof *c->ms, ascending);
  printf("\"%s\": {\"count\": %ld, \"p50\": %.4f, \"p99\": %.4f, \"max\": %.4f}%s", name,
         c->requests, c->ms[c->requests / 2], c->ms[c->requests * 99 / 100],
         c->ms[c->requests - 1], end);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  table = argv[1];
  pace = atof(argv[2]);
  rows = atol(argv[4]);
  long requests = (long)(pace * atof(argv[3])) + 1;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  struct client reader = {.requests = requests, .seed = 1, .ms = calloc((size_t)requests, 8)};
  struct client writer = {.requests = requests, .writes = 1, .ms = calloc((size_t)requests, 8)};
  pthread_t reads, writes;
  if (pthread_create(&reads, NULL, live, &reader)) return 1;
  if (pthread_create(&writes, NULL, live, &writer)) return 1;
  pthread_join(reads, NULL);
  pthread_join(writes, NULL);
  printf("{");
  print("read", &reader, ", ");
  print("write", &writer, "}\n");
  return 0;
}
