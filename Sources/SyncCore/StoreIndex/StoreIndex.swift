import GRDB
import TablesProtocol

/// What must be known of all stores of a data folder while they are closed, in one small file: when each
/// has work that is due, and what it holds.
///
/// An entry is written while its store is still open and nothing changes it any more, and is on disk
/// before the store is closed. So a store without a write-ahead log beside it is as its entry says; one
/// with such a log was open when the process ended, and is looked at again (``StoreIndex/wasOpen(_:)``).
public final class StoreIndex: Sendable {
    private let file: DatabaseQueue

    /// Opens or makes the index. One of another version, or a damaged one, is made anew: everything in it
    /// stands in the stores.
    public init(at path: String) throws(StoreError) {
        do throws(StoreError) {
            file = try Self.opened(path)
        } catch {
            switch error {
            case .damaged, .newerVersion:
                do { try StoreFiles.remove(path) } catch { throw StoreError(error) }
                file = try Self.opened(path)
            case .cannotOpen, .full, .overBudget, .readOnly, .failed: throw error
            }
        }
    }

    private static func opened(_ path: String) throws(StoreError) -> DatabaseQueue {
        let file = try Connection.writer(path)
        do {
            try file.write { db in
                let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                if version == 0 { try db.execute(sql: schema) }
                if version > 1 {
                    throw StoreError.newerVersion("A newer version wrote the index.")
                }
            }
        } catch {
            throw Connection.opening(error, path)
        }
        return file
    }

    private static let schema = """
        CREATE TABLE stores (
          identity TEXT PRIMARY KEY NOT NULL,
          due_at INTEGER,
          oldest_at INTEGER,
          accepted INTEGER NOT NULL,
          applied INTEGER NOT NULL,
          collapsed INTEGER NOT NULL,
          discarded INTEGER NOT NULL,
          queued INTEGER NOT NULL,
          waiting INTEGER NOT NULL,
          sending INTEGER NOT NULL,
          unknown INTEGER NOT NULL,
          conflict INTEGER NOT NULL,
          quarantined INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE store_tables (
          identity TEXT NOT NULL,
          name TEXT NOT NULL,
          items INTEGER NOT NULL,
          set_aside INTEGER NOT NULL,
          pulls_fail INTEGER NOT NULL,
          PRIMARY KEY (identity, name)
        ) WITHOUT ROWID;
        PRAGMA user_version = 1;
        """

    /// Whether a store was open when the last process on it ended, so that its entry may say less than
    /// the store: its write-ahead log is there. Closing a store removes it.
    /// - Parameter exists: whether there is a file of that path.
    public static func wasOpen(_ store: String, exists: (String) -> Bool) -> Bool {
        exists(store + "-wal")
    }

    /// Every entry, by identity.
    @available(*, noasync)
    public func entries() throws(StoreError) -> [String: StoreSummary] {
        do {
            return try file.read { db in
                var all: [String: StoreSummary] = [:]
                let rows = try Row.fetchCursor(db, sql: "SELECT * FROM stores")
                while let row = try rows.next() { all[row[0]] = StoreSummary(row) }
                let tables = try Row.fetchCursor(
                    db, sql: "SELECT * FROM store_tables ORDER BY identity, name")
                while let row = try tables.next() {
                    all[row[0]]?.tables.append(StoreSummary.Table(row))
                }
                return all
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Writes what is known of a store; it is on disk when this returns.
    @available(*, noasync)
    public func put(_ summary: StoreSummary, of identity: String) throws(StoreError) {
        do {
            try file.write { db in
                let (ledger, queue) = (summary.ledger, summary.ledger.queue)
                try db.execute(
                    sql: "REPLACE INTO stores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        identity, summary.dueAt?.milliseconds, summary.oldestAt?.milliseconds,
                        ledger.accepted, ledger.applied, ledger.collapsed, ledger.discarded,
                        queue.queued, queue.waiting, queue.sending, queue.unknown,
                        queue.conflict, queue.quarantined,
                    ])
                try db.execute(
                    sql: "DELETE FROM store_tables WHERE identity = ?", arguments: [identity])
                for table in summary.tables {
                    try db.execute(
                        sql: "INSERT INTO store_tables VALUES (?, ?, ?, ?, ?)",
                        arguments: [
                            identity, table.name, table.items, table.setAside, table.pullsFail,
                        ])
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Closes the file.
    public func close() throws(StoreError) {
        do { try file.close() } catch { throw StoreError(error) }
    }
}

extension StoreSummary {
    /// Reads a row of `stores`, by the places of its columns: there are thousands of them at a start.
    fileprivate init(_ row: Row) {
        func time(_ place: Int) -> Instant? {
            (row[place] as Int64?).map { Instant(milliseconds: $0) }
        }
        var queue = QueueCounts()
        queue.queued = row[7]
        queue.waiting = row[8]
        queue.sending = row[9]
        queue.unknown = row[10]
        queue.conflict = row[11]
        queue.quarantined = row[12]
        self.init(
            dueAt: time(1), oldestAt: time(2),
            ledger: Ledger(
                accepted: row[3], applied: row[4], collapsed: row[5],
                discarded: row[6], queue: queue), tables: [])
    }
}

extension StoreSummary.Table {
    fileprivate init(_ row: Row) {
        self.init(
            name: row[1], items: row[2], setAside: row[3],
            pullsFail: row[4])
    }
}
