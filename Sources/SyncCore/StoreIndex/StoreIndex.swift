public import Platform
import Storage
public import TablesProtocol

/// The index of all stores in a data folder while they are closed, in one small file: when each has due
/// work, and a summary of its contents.
///
/// An entry is valid while the store's file is unchanged (``Entry/holds(of:file:)``). It is written twice:
/// without a file before the store is closed, and with the file afterwards. If the process ends between
/// them, the store itself is read.
public final class StoreIndex: Sendable {
    let file: ConnectionQueue

    public struct Entry: Sendable, Hashable {
        public var summary: StoreSummary
        /// The store's file after it was closed; nil until then.
        public var file: StoreFile?

        public init(summary: StoreSummary, file: StoreFile?) {
            self.summary = summary
            self.file = file
        }

        /// Whether the entry is valid: the store's file is unchanged, and it has no write-ahead log, which
        /// an open store has.
        /// - Parameters:
        ///   - path: the path of the store.
        ///   - look: gives the file at a path; nil if there is none.
        public func holds(of path: String, file look: (String) -> StoreFile?) -> Bool {
            guard let file, look(path + "-wal") == nil else { return false }
            return look(path) == file
        }
    }

    /// Opens the index or creates it. An index of another version or a damaged one is created again: its
    /// entries are made again from the stores, but deferred policies are lost.
    public init(at path: String) throws(StoreError) {
        do throws(StoreError) {
            file = try Self.opened(path)
        } catch {
            switch error {
            case .damaged, .otherVersion:
                do { try DatabaseFiles.remove(path) } catch { throw StoreError(error) }
                file = try Self.opened(path)
            case .cannotOpen, .full, .overBudget, .readOnly, .failed: throw error
            }
        }
    }

    private static func opened(_ path: String) throws(StoreError) -> ConnectionQueue {
        do {
            let file = try ConnectionQueue.writer(path)
            try file.transaction(.immediate) { db in
                let version = Int(try db.integer("PRAGMA user_version") ?? 0)
                if version == 0 { try db.run(script: schema) }
                if version != 0, version != Self.version {
                    throw StoreError.otherVersion("Another version wrote the index.")
                }
            }
            return file
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    private static let version = 4
    private static let schema = """
        CREATE TABLE stores (
          identity TEXT PRIMARY KEY NOT NULL,
          inode INTEGER,
          bytes INTEGER,
          changed_at INTEGER,
          is_due INTEGER NOT NULL,
          due_at INTEGER,
          noted_at INTEGER,
          oldest_at INTEGER,
          oldest_for_person_at INTEGER,
          accepted INTEGER NOT NULL,
          applied INTEGER NOT NULL,
          collapsed INTEGER NOT NULL,
          discarded INTEGER NOT NULL,
          queued INTEGER NOT NULL,
          waiting INTEGER NOT NULL,
          sending INTEGER NOT NULL,
          unknown INTEGER NOT NULL,
          conflict INTEGER NOT NULL,
          quarantined INTEGER NOT NULL,
          conflicts INTEGER NOT NULL,
          refusals INTEGER NOT NULL,
          retries INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE store_tables (
          identity TEXT NOT NULL,
          name TEXT NOT NULL,
          items INTEGER NOT NULL,
          set_aside INTEGER NOT NULL,
          pulls_fail INTEGER NOT NULL,
          conflicts INTEGER NOT NULL,
          refused INTEGER NOT NULL,
          PRIMARY KEY (identity, name)
        ) WITHOUT ROWID;
        CREATE TABLE policies_left (
          identity TEXT NOT NULL,
          name TEXT NOT NULL,
          PRIMARY KEY (identity, name)
        ) WITHOUT ROWID;
        PRAGMA user_version = \(version);
        """

    @available(*, noasync)
    public func entries() throws(StoreError) -> [String: Entry] {
        do {
            return try file.transaction(.deferred) { db in
                var all: [String: Entry] = [:]
                try db.query("SELECT * FROM stores", []) { row in
                    all[row[0]] = Entry(row)
                    return true
                }
                try db.query("SELECT * FROM store_tables ORDER BY identity, name", []) { row in
                    all[row[0]]?.summary.tables.append(StoreSummary.Table(row))
                    return true
                }
                return all
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Writes the entry of a store. It is on disk when this returns.
    @available(*, noasync)
    public func put(_ entry: Entry, of identity: String) throws(StoreError) {
        do {
            try file.transaction(.immediate) { db in
                let summary = entry.summary
                let (ledger, queue) = (summary.ledger, summary.ledger.queue)
                var (isDue, dueAt, notedAt): (Bool, Instant?, Instant?) = (false, nil, nil)
                switch summary.due {
                case .never: break
                case .now: isDue = true
                case .at(let time, let noted): (dueAt, notedAt) = (time, noted)
                }
                try db.run(
                    """
                    REPLACE INTO stores
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        identity, entry.file?.inode, entry.file?.bytes, entry.file?.changedAt,
                        isDue, dueAt?.milliseconds, notedAt?.milliseconds,
                        summary.oldestAt?.milliseconds, summary.oldestForPersonAt?.milliseconds,
                        ledger.accepted, ledger.applied, ledger.collapsed, ledger.discarded,
                        queue.queued, queue.waiting, queue.sending, queue.unknown,
                        queue.conflict, queue.quarantined, ledger.conflicts, ledger.refusals,
                        ledger.retries,
                    ])
                try db.run("DELETE FROM store_tables WHERE identity = ?", [identity])
                for table in summary.tables {
                    try db.run(
                        "INSERT INTO store_tables VALUES (?, ?, ?, ?, ?, ?, ?)",
                        [
                            identity, table.name, table.items, table.setAside, table.pullsFail,
                            table.conflicts, table.refused,
                        ])
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    public func close() throws(StoreError) {
        do { try file.close() } catch { throw StoreError(error) }
    }
}

extension StoreIndex.Entry {
    /// Reads a row of `stores` by column position, because there may be thousands at a start.
    fileprivate init(_ row: StatementRow) {
        func time(_ place: Int) -> Instant? {
            (row[place] as Int64?).map { Instant(milliseconds: $0) }
        }
        var queue = QueueCounts()
        queue.queued = row[13]
        queue.waiting = row[14]
        queue.sending = row[15]
        queue.unknown = row[16]
        queue.conflict = row[17]
        queue.quarantined = row[18]
        let timed = time(5).flatMap { at in time(6).map { DueWork.at(at, noted: $0) } }
        let summary = StoreSummary(
            due: row[4] ? .now : timed ?? .never, oldestAt: time(7),
            oldestForPersonAt: time(8),
            ledger: Ledger(
                accepted: row[9], applied: row[10], collapsed: row[11],
                discarded: row[12], queue: queue, conflicts: row[19], refusals: row[20],
                retries: row[21]), tables: [])
        let file = (row[1] as Int64?).map {
            StoreFile(inode: $0, bytes: row[2], changedAt: row[3])
        }
        self.init(summary: summary, file: file)
    }
}

extension StoreSummary.Table {
    fileprivate init(_ row: StatementRow) {
        self.init(
            name: row[1], items: row[2], setAside: row[3], pullsFail: row[4],
            conflicts: row[5], refused: row[6])
    }
}

// Policy changes for all stores that a closed store has not applied. They are stored here, also across
// restarts, and are applied when the store is opened.
extension StoreIndex {
    /// Adds tables whose policies these stores have to apply.
    @available(*, noasync)
    public func deferPolicies(
        of tables: [TableName], to identities: [String]
    ) throws(StoreError) {
        do {
            try file.transaction(.immediate) { db in
                for identity in identities {
                    for table in tables {
                        try db.run(
                            "INSERT OR IGNORE INTO policies_left VALUES (?, ?)",
                            [identity, table.text])
                    }
                }
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// The tables whose policies a store has to apply.
    @available(*, noasync)
    public func deferredPolicies(of identity: String) throws(StoreError) -> Set<String> {
        do {
            return try file.transaction(.deferred) { db in
                let names: [String] = try db.column(
                    "SELECT name FROM policies_left WHERE identity = ?", [identity])
                return Set(names)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Removes the tables of a store that has applied their policies.
    @available(*, noasync)
    public func removeDeferredPolicies(of identity: String) throws(StoreError) {
        do {
            try file.transaction(.immediate) { db in
                try db.run("DELETE FROM policies_left WHERE identity = ?", [identity])
            }
        } catch {
            throw StoreError(error)
        }
    }
}
