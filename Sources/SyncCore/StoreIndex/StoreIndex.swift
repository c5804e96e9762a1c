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
        \(StoreRow.stored.creation);
        \(TableRow.stored.creation);
        CREATE TABLE policies_left (
          identity TEXT NOT NULL,
          name TEXT NOT NULL,
          PRIMARY KEY (identity, name)
        ) WITHOUT ROWID;
        PRAGMA user_version = \(version);
        """

    private func access<T>(
        _ beginning: Connection.Beginning, _ body: (Connection) throws -> T
    ) throws(StoreError) -> T {
        do { return try file.transaction(beginning, body) } catch { throw StoreError(error) }
    }

    @available(*, noasync)
    public func entries() throws(StoreError) -> [String: Entry] {
        try access(.deferred) { db in
            let stores = try db.all(
                "SELECT \(StoreRow.stored.names) FROM stores", [], StoreRow.init)
            var all = Dictionary(uniqueKeysWithValues: stores.map { ($0.identity, $0.entry) })
            let tables = try db.all(
                "SELECT \(TableRow.stored.names) FROM store_tables ORDER BY identity, name", [],
                TableRow.init)
            for row in tables { all[row.identity]?.summary.tables.append(row.table) }
            return all
        }
    }

    /// Writes the entry of a store. It is on disk when this returns.
    @available(*, noasync)
    public func put(_ entry: Entry, of identity: String) throws(StoreError) {
        try access(.immediate) { db in
            try db.run(
                StoreRow.stored.replace,
                StoreRow.stored.inserted(StoreRow(identity: identity, entry: entry)))
            try db.run("DELETE FROM store_tables WHERE identity = ?", [identity])
            for table in entry.summary.tables {
                try db.insert(TableRow(identity: identity, table: table))
            }
        }
    }

    public func close() throws(StoreError) {
        do { try file.close() } catch { throw StoreError(error) }
    }
}

/// An entry as it is stored, without its tables.
private struct StoreRow: Stored {
    var identity: String
    var entry: StoreIndex.Entry

    static let stored = StoredColumns<StoreRow>(
        "stores", blank: StoreRow(identity: "", entry: .init(summary: .empty, file: nil)),
        [
            .init("identity", \.identity, .key),
            .init("inode", get: \.entry.file?.inode) { row, inode in
                row.entry.file = inode.map { StoreFile(inode: $0, bytes: 0, changedAt: 0) }
            },
            .init("bytes", get: \.entry.file?.bytes) { $0.entry.file?.bytes = $1 ?? 0 },
            .init("changed_at", get: \.entry.file?.changedAt) {
                $0.entry.file?.changedAt = $1 ?? 0
            },
            .init("is_due", get: { $0.entry.summary.due == .now }) {
                $0.entry.summary.due = $1 ? .now : .never
            },
            .init("due_at", get: \.entry.summary.due.time) { row, time in
                if let time { row.entry.summary.due = .at(time, noted: time) }
            },
            .init("noted_at", get: \.entry.summary.due.notedAt) { row, noted in
                guard let noted, let time = row.entry.summary.due.time else { return }
                row.entry.summary.due = .at(time, noted: noted)
            },
            .init("oldest_at", \.entry.summary.oldestAt),
            .init("oldest_for_person_at", \.entry.summary.oldestForPersonAt),
            .init("accepted", \.entry.summary.ledger.accepted),
            .init("applied", \.entry.summary.ledger.applied),
            .init("collapsed", \.entry.summary.ledger.collapsed),
            .init("discarded", \.entry.summary.ledger.discarded),
            .init("queued", \.entry.summary.ledger.queue.queued),
            .init("waiting", \.entry.summary.ledger.queue.waiting),
            .init("sending", \.entry.summary.ledger.queue.sending),
            .init("unknown", \.entry.summary.ledger.queue.unknown),
            .init("conflict", \.entry.summary.ledger.queue.conflict),
            .init("quarantined", \.entry.summary.ledger.queue.quarantined),
            .init("conflicts", \.entry.summary.ledger.conflicts),
            .init("refusals", \.entry.summary.ledger.refusals),
            .init("retries", \.entry.summary.ledger.retries),
        ])
}

extension DueWork {
    /// When it is due, where it waits for a time.
    fileprivate var time: Instant? {
        if case .at(let time, _) = self { time } else { nil }
    }

    fileprivate var notedAt: Instant? {
        if case .at(_, let noted) = self { noted } else { nil }
    }
}

/// A table of a store's summary as it is stored.
private struct TableRow: Stored {
    var identity: String
    var table: StoreSummary.Table

    static let stored = StoredColumns<TableRow>(
        "store_tables",
        blank: TableRow(
            identity: "",
            table: .init(
                name: "", items: 0, setAside: 0, pullsFail: false, conflicts: 0, refused: 0)),
        [
            .init("identity", \.identity, .key), .init("name", \.table.name, .key),
            .init("items", \.table.items), .init("set_aside", \.table.setAside),
            .init("pulls_fail", \.table.pullsFail), .init("conflicts", \.table.conflicts),
            .init("refused", \.table.refused),
        ])
}

// Policy changes for all stores that a closed store has not applied. They are stored here, also across
// restarts, and are applied when the store is opened.
extension StoreIndex {
    /// Adds tables whose policies these stores have to apply.
    @available(*, noasync)
    public func deferPolicies(
        of tables: [TableName], to identities: [String]
    ) throws(StoreError) {
        try access(.immediate) { db in
            for identity in identities {
                for table in tables {
                    try db.run(
                        "INSERT OR IGNORE INTO policies_left VALUES (?, ?)", [identity, table.text])
                }
            }
        }
    }

    /// The tables whose policies a store has to apply.
    @available(*, noasync)
    public func deferredPolicies(of identity: String) throws(StoreError) -> Set<String> {
        Set(
            try access(.deferred) {
                try $0.column("SELECT name FROM policies_left WHERE identity = ?", [identity])
                    as [String]
            })
    }

    /// Removes the tables of a store that has applied their policies.
    @available(*, noasync)
    public func removeDeferredPolicies(of identity: String) throws(StoreError) {
        try access(.immediate) {
            try $0.run("DELETE FROM policies_left WHERE identity = ?", [identity])
        }
    }
}
