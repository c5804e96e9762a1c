// Preloaded into the proxy for a moment: writes every SQL statement that it runs, values filled in,
// to the file named by QUERY_TAP, each followed by a line "--".
//
// So the bare programs run the proxy's own statements, and no SQL of the proxy is repeated here.

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

int sqlite3_step(sqlite3_stmt *statement) {
  int (*real)(sqlite3_stmt *) = (int (*)(sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_step");
  const char *path = getenv("QUERY_TAP");
  // Only the first step of each run.
  if (path && !sqlite3_stmt_busy(statement)) {
    char *text = sqlite3_expanded_sql(statement);
    FILE *file = fopen(path, "a");
    if (file && text) fprintf(file, "%s\n--\n", text);
    if (file) fclose(file);
    sqlite3_free(text);
  }
  return real(statement);
}
