// One client at a calm, even pace: a read and a write in turn, each timed.
//
//   paced-client URL REQUESTS_PER_SECOND SECONDS ROWS
//
// URL is a table's of the proxy, filled from quiet-backend with ROWS rows, of which reads take any.
// A load that asks as fast as it can would measure itself; this one leaves the machine to what runs
// beside it. Latency counts from when a request was due. Prints p50, p99 and the maximum in ms.

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct latencies { double *ms; long count; };

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

static void print(const char *name, struct latencies l, const char *end) {
  qsort(l.ms, (size_t)l.count, sizeof *l.ms, ascending);
  printf("\"%s\": {\"count\": %ld, \"p50\": %.4f, \"p99\": %.4f, \"max\": %.4f}%s", name, l.count,
         l.ms[l.count / 2], l.ms[l.count * 99 / 100], l.ms[l.count - 1], end);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const char *table = argv[1];
  double pace = atof(argv[2]), seconds = atof(argv[3]);
  long rows = atol(argv[4]), requests = (long)(pace * seconds);
  if (requests < 2) requests = 2;
  CURL *easy = curl_easy_init();
  struct curl_slist *fields = curl_slist_append(NULL, "ZUMO-API-VERSION: 2.0.0");
  curl_slist_append(fields, "Content-Type: application/json");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
  struct latencies reads = {calloc((size_t)requests, 8), 0}, writes = {calloc((size_t)requests, 8), 0};
  srand(1);
  double began = now();
  for (long i = 0; i < requests; i++) {
    double due = began + i / pace, late = now();
    if (late < due) {
      struct timespec pause = {(long)(due - late), (long)((due - late - (long)(due - late)) * 1e9)};
      nanosleep(&pause, NULL);
    }
    char url[512];
    if (i % 2) {
      ask(easy, table, "{\"text\":\"Written beside a pull\",\"complete\":false}", 201);
      writes.ms[writes.count++] = (now() - due) * 1e3;
    } else {
      long row = rand() % rows;
      snprintf(url, sizeof url, "%s/%08x-0000-4000-8000-%012ld", table,
               (unsigned)row * 2654435761u, row);
      ask(easy, url, NULL, 200);
      reads.ms[reads.count++] = (now() - due) * 1e3;
    }
  }
  printf("{");
  print("read", reads, ", ");
  print("write", writes, "}\n");
  return 0;
}
