// Preloaded into a server for a moment: writes every SQL statement that it runs on SQLite or PostgreSQL,
// values filled in, to the file named by QUERY_TAP, each followed by a line "--".
//
// So the bare programs run the product's own statements, and no SQL of the product is repeated here.

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tap(const char *text) {
  const char *path = getenv("QUERY_TAP");
  FILE *file = path && text ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n--\n", text);
  fclose(file);
}

int sqlite3_step(sqlite3_stmt *statement) {
  int (*real)(sqlite3_stmt *) = (int (*)(sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_step");
  // Only the first step of each run.
  if (getenv("QUERY_TAP") && !sqlite3_stmt_busy(statement)) {
    char *text = sqlite3_expanded_sql(statement);
    tap(text);
    sqlite3_free(text);
  }
  return real(statement);
}

// MARK: libpq

enum { most_prepared = 1024 };

// The prepared statements of all connections. One request at a time is tapped, so nothing locks.
static struct { const void *line; char *name, *text; } prepared[most_prepared];
static int prepared_count;

// The text with the values as quoted texts in place of $1, $2, …
static void tap_filled(const char *text, int count, const char *const *values) {
  size_t room = strlen(text) + 1;
  for (int i = 0; i < count; i++) room += 3 * (values[i] ? 2 * strlen(values[i]) + 2 : 4);
  char *filled = malloc(room * 4), *end = filled;
  while (*text) {
    if (*text != '$' || text[1] < '1' || text[1] > '9') { *end++ = *text++; continue; }
    long number = strtol(text + 1, (char **)&text, 10);
    const char *value = number <= count ? values[number - 1] : NULL;
    if (!value) { end += sprintf(end, "NULL"); continue; }
    *end++ = '\'';
    for (; *value; value++) {
      if (*value == '\'') *end++ = '\'';
      *end++ = *value;
    }
    *end++ = '\'';
  }
  *end = 0;
  tap(filled);
  free(filled);
}

int PQsendQuery(void *line, const char *text) {
  tap(text);
  return ((int (*)(void *, const char *))dlsym(RTLD_NEXT, "PQsendQuery"))(line, text);
}

int PQsendPrepare(void *line, const char *name, const char *text, int count, const unsigned *types) {
  if (prepared_count < most_prepared) {
    prepared[prepared_count].line = line;
    prepared[prepared_count].name = strdup(name);
    prepared[prepared_count++].text = strdup(text);
  }
  return ((int (*)(void *, const char *, const char *, int, const unsigned *))dlsym(
      RTLD_NEXT, "PQsendPrepare"))(line, name, text, count, types);
}

int PQsendQueryPrepared(void *line, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int format) {
  for (int i = prepared_count - 1; i >= 0; i--) {
    if (prepared[i].line != line || strcmp(prepared[i].name, name)) continue;
    tap_filled(prepared[i].text, count, values);
    break;
  }
  return ((int (*)(void *, const char *, int, const char *const *, const int *, const int *, int))dlsym(
      RTLD_NEXT, "PQsendQueryPrepared"))(line, name, count, values, lengths, formats, format);
}

int PQsendQueryParams(void *line, const char *text, int count, const unsigned *types,
                      const char *const *values, const int *lengths, const int *formats, int format) {
  tap_filled(text, count, values);
  return ((int (*)(void *, const char *, int, const unsigned *, const char *const *, const int *,
                   const int *, int))dlsym(RTLD_NEXT, "PQsendQueryParams"))(
      line, text, count, types, values, lengths, formats, format);
}
