// Preloaded into nodes: every statement reaches PostgreSQL 10 ms late, as over a line to another place.
//
// The thread that sends it waits for its answer anyway, so it may as well wait before.

#include <dlfcn.h>
#include <time.h>

static const long line_ns = 10 * 1000 * 1000;

static void *late(const char *name) {
  struct timespec pause = {0, line_ns};
  nanosleep(&pause, NULL);
  return dlsym(RTLD_NEXT, name);
}

int PQsendQuery(void *line, const char *text) {
  return ((int (*)(void *, const char *))late("PQsendQuery"))(line, text);
}

int PQsendPrepare(void *line, const char *name, const char *text, int count, const unsigned *types) {
  return ((int (*)(void *, const char *, const char *, int, const unsigned *))late("PQsendPrepare"))(
      line, name, text, count, types);
}

int PQsendQueryPrepared(void *line, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int format) {
  return ((int (*)(void *, const char *, int, const char *const *, const int *, const int *, int))late(
      "PQsendQueryPrepared"))(line, name, count, values, lengths, formats, format);
}

int PQsendQueryParams(void *line, const char *text, int count, const unsigned *types,
                      const char *const *values, const int *lengths, const int *formats, int format) {
  return ((int (*)(void *, const char *, int, const unsigned *, const char *const *, const int *,
                   const int *, int))late("PQsendQueryParams"))(line, text, count, types, values,
                                                                 lengths, formats, format);
}
