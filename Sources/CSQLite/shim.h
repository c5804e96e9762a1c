#pragma once
#include <sqlite3.h>

/* sqlite3_config takes its values as C varargs, which Swift cannot call. Does nothing once SQLite is in use. */
static inline void understudy_sqlite_without_memory_statistics(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
