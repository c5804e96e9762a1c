// How this process uses SQLite: one write to the log for all pages of a commit, the lock of a read kept for
// the next, what a write changes kept in memory until it is sure, and no counting of memory.

#ifndef WRITE_AHEAD_LOG_H
#define WRITE_AHEAD_LOG_H

/// Sets SQLite up for the whole process: call it before the first connection is opened, as often as you
/// like. Connections that were opened earlier go on as they were.
/// - Returns: SQLITE_OK, or the code of what went wrong, where SQLite works as it does by itself.
int write_ahead_log_set_up(void);

#endif
