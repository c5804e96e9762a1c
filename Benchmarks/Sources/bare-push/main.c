// Bare libcurl sending inserts: N at a time over kept-alive connections.
//
//   bare-push URL COUNT PARALLEL
//
// URL is a table's, such as http://127.0.0.1:8081/tables/todoitem. Requests have the fields and the
// body that the proxy sends. Every answer must be 201. Also fills the proxy's queue.

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct transfer {
  CURL *easy;
  struct curl_slist *fields;
  char body[256];
};

static unsigned run;  // Makes the ids of this run its own.

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

// The request of insert `number`; its id is a UUID whose parts do not come in order.
static void prepare(struct transfer *t, const char *url, long number) {
  unsigned scattered = (unsigned)number * 2654435761u;
  char key[80];
  snprintf(t->body, sizeof t->body,
           "{\"id\":\"%08x-%04x-4%03x-8000-%012lx\",\"text\":\"Todo %ld, as long as they are\","
           "\"complete\":%s}",
           scattered, run & 0xffff, run >> 16 & 0xfff, number, number,
           number % 2 ? "true" : "false");
  snprintf(key, sizeof key, "Idempotency-Key: %08x-%04x-7%03x-9000-%012lx", scattered,
           run & 0xffff, run >> 16 & 0xfff, number);
  curl_slist_free_all(t->fields);
  t->fields = curl_slist_append(NULL, key);
  curl_slist_append(t->fields, "Accept: application/json");
  curl_slist_append(t->fields, "ZUMO-API-VERSION: 2.0.0");
  curl_slist_append(t->fields, "Content-Type: application/json");
  curl_easy_setopt(t->easy, CURLOPT_URL, url);
  curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->fields);
  curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, t->body);
  curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(t->body));
  curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "understudy/0.1.0");
  curl_easy_setopt(t->easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, discard);
  curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *url = argv[1];
  long count = atol(argv[2]), parallel = atol(argv[3]), begun = 0, done = 0;
  run = (unsigned)time(NULL) * 31u + (unsigned)clock();
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, parallel);
  struct transfer *transfers = calloc((size_t)parallel, sizeof *transfers);

  double start = now();
  for (; begun < parallel && begun < count; begun++) {
    transfers[begun].easy = curl_easy_init();
    prepare(&transfers[begun], url, begun);
    curl_multi_add_handle(multi, transfers[begun].easy);
  }
  while (done < count) {
    int running, left;
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
      done++;
      struct transfer *t;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
      curl_multi_remove_handle(multi, easy);
      if (begun < count) {
        prepare(t, url, begun++);
        curl_multi_add_handle(multi, easy);
        running = 1;
      }
    }
    if (done < count) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  printf("{\"count\": %ld, \"seconds\": %.6f}\n", done, now() - start);
  return 0;
}
