import Storage
import TablesProtocol

/// What must be known of all stores of a data folder while they are closed, in one small file: when each
/// has work that is due, and what it holds.
///
/// An entry names the store's file as it was when the store was closed, and is trusted while the file is the
/// same (``Entry/holds(of:file:)``). It is written in two steps: without a file before the store is closed,
/// with it afterwards. So an end of the process in between leads to a look at the store.
public final class StoreIndex: Sendable {
    let file: ConnectionQueue

    /// What is known of one store.
    public struct Entry: Sendable, Hashable {
        /// What it holds.
        public var summary: StoreSummary
        /// Its file after it was closed; nil as long as it is not.
        public var file: StoreFile?

        /// Makes it from its parts.
        public init(summary: StoreSummary, file: StoreFile?) {
            self.summary = summary
            self.file = file
        }

        /// Whether the store is as the entry says: nothing has written to its file since, and it has no
        /// write-ahead log, which a store has as long as it is open.
        /// - Parameters:
        ///   - path: where the store is.
        ///   - look: what the system says of the file at a path; nil where there is none.
        public func holds(of path: String, file look: (String) -> StoreFile?) -> Bool {
            guard let file, look(path + "-wal") == nil else { return false }
            return look(path) == file
        }
    }

    /// Opens or makes the index. One of another version, or a damaged one, is made anew: what it says of
    /// stores stands in the stores.
    public init(at path: String) throws(StoreError) {
        do throws(StoreError) {
            file = try Self.opened(path)
        } catch {
            switch error {
            case .damaged, .newerVersion:
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
                    throw StoreError.newerVersion("Another version wrote the index.")
                }
            }
            return file
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    private static let version = 3
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
        CREATE TABLE policies_left (
          identity TEXT NOT NULL,
          name TEXT NOT NULL,
          PRIMARY KEY (identity, name)
        ) WITHOUT ROWID;
        PRAGMA user_version = \(version);
        """

    /// Every entry, by identity.
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

    /// Writes what is known of a store; it is on disk when this returns.
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
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        identity, entry.file?.inode, entry.file?.bytes, entry.file?.changedAt,
                        isDue, dueAt?.milliseconds, notedAt?.milliseconds,
                        summary.oldestAt?.milliseconds, summary.oldestForPersonAt?.milliseconds,
                        ledger.accepted, ledger.applied, ledger.collapsed, ledger.discarded,
                        queue.queued, queue.waiting, queue.sending, queue.unknown,
                        queue.conflict, queue.quarantined,
                    ])
                try db.run("DELETE FROM store_tables WHERE identity = ?", [identity])
                for table in summary.tables {
                    try db.run(
                        "INSERT INTO store_tables VALUES (?, ?, ?, ?, ?)",
                        [
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

extension StoreIndex.Entry {
    /// Reads a row of `stores`, by the places of its columns: there are thousands of them at a start.
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
                discarded: row[12], queue: queue), tables: [])
        let file = (row[1] as Int64?).map {
            StoreFile(inode: $0, bytes: row[2], changedAt: row[3])
        }
        self.init(summary: summary, file: file)
    }
}

extension StoreSummary.Table {
    fileprivate init(_ row: StatementRow) {
        self.init(
            name: row[1], items: row[2], setAside: row[3],
            pullsFail: row[4])
    }
}

/// A store's file as the system tells of it. Whatever writes to the file, or puts another one in its place,
/// leaves another value: the time of change cannot be set.
public struct StoreFile: Sendable, Hashable {
    /// The number of its inode.
    public var inode: Int64
    /// How large it is.
    public var bytes: Int64
    /// When its content or its inode last changed, in nanoseconds since 1970.
    public var changedAt: Int64

    /// Makes it from its parts.
    public init(inode: Int64, bytes: Int64, changedAt: Int64) {
        self.inode = inode
        self.bytes = bytes
        self.changedAt = changedAt
    }
}
