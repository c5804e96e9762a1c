import Foundation
import HTTPTypes
import Storage
import TablesProtocol

extension Store {
    /// Writes a whole, consistent and verified copy of the store as it is at one moment, while it is
    /// in use.
    ///
    /// 1. The copy grows in a new folder beside its place, which is the owner's alone: no link can be
    ///    planted in it.
    /// 2. It is on disk and verified before it gets its name.
    ///
    /// - Parameter path: where nothing may be yet, not even a link that leads nowhere.
    @discardableResult
    public func backup(to path: String) async throws(StoreError) -> StoreContents {
        try StoreOnDisk.refuseTaken(path)
        return try Self.value(
            await withCheckedContinuation { done in
                reading.reader.schedule { connection in
                    done.resume(returning: Result { try StoreOnDisk.copy(connection, to: path) })
                }
            })
    }
}

/// A store's file, which no ``Store`` of this process has open.
public struct StoreOnDisk: Sendable {
    public let path: String

    public init(at path: String) { self.path = path }

    /// Has this process open stores also where their disk is full, to read them. It has their folder's lock.
    public static func openOnFullDisk() { DatabaseFiles.shareMemoryInProcess() }

    /// Looks into a store's file without changing it, also while the store is in use.
    /// - Throws: ``StoreError`` for a file that is no store, or one of a newer version.
    @available(*, noasync)
    public func verify() throws(StoreError) -> StoreContents {
        do {
            let file = try ConnectionQueue.storeReader(path)
            let contents = try Self.contents(of: file, at: path)
            try file.close()
            return contents
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    /// What a store holds that is open already.
    private static func contents(of store: ConnectionQueue, at path: String) throws -> StoreContents
    {
        try store.transaction(.deferred) { db in
            guard let version = try Migrations.present.version(of: db) else {
                throw StoreError.damaged("The file \(path) is no store of Understudy.")
            }
            try StoreRebuild.refuseFalseTables(db, version: version)
            return try StoreCheck(transaction: Transaction(lookingInto: db)).contents(
                version: version)
        }
    }

    /// Writes a copy of the store, also while another process works on it.
    /// - Parameter copy: where nothing may be yet, not even a link that leads nowhere.
    @available(*, noasync)
    public func backup(to copy: String) throws(StoreError) -> StoreContents {
        try Self.refuseTaken(copy)
        do {
            let store = try ConnectionQueue.storeReader(path)
            let contents = try store.access { try Self.copy($0, to: copy) }
            try store.close()
            return contents
        } catch {
            throw StoreError(opening: path, error)
        }
    }

    fileprivate static func refuseTaken(_ path: String) throws(StoreError) {
        // Asked of the name itself, and not of what a link leads to.
        guard (try? FileManager.default.attributesOfItem(atPath: path)) == nil else {
            throw .cannotOpen("There is a file at \(path) already; name another one.")
        }
    }

    @available(*, noasync)
    fileprivate static func copy(
        _ connection: Connection, to path: String
    ) throws -> StoreContents {
        try Backup.write(connection, to: path) { part in
            let contents = try StoreOnDisk(at: part).verify()
            if let fault = contents.faults.first { throw StoreError.damaged(fault) }
            return contents
        }
    }

    /// Puts a backup into the store's place. No process may have the store open.
    ///
    /// 1. A backup that is damaged or of a newer version is refused, and nothing is changed.
    /// 2. Its rows go into a fresh file (see ``StoreRebuild``), which is migrated, gets its
    ///    indexes again, and is told what a restored store has to know (see
    ///    ``Restoration/noteRestored(replacing:)``).
    /// 3. The store that was there is kept beside as `….before-restore`.
    /// 4. The copy takes its place in one transaction.
    ///
    /// - Parameter replaced: the store that clients have used until now, where it is not this one.
    /// - Returns: what the restored store holds.
    @available(*, noasync)
    public func restore(
        _ backup: String, replacing replaced: String? = nil, clock: any StoreClock
    ) throws(StoreError) -> StoreContents {
        try StoreOnDisk(at: backup).refuseDamaged()
        let (part, kept) = (path + ".restoring", path + ".before-restore")
        do {
            try DatabaseFiles.remove(part)
            let copy = try Self.prepared(
                backup, in: .storeWriter(part), Self.floor(of: replaced ?? path), clock)
            let store = try vacated(keeping: kept)
            try Backup.copy(copy, over: store)
            try copy.close()
            try store.close()
            try DatabaseFiles.remove(part)
        } catch {
            throw StoreError(error)
        }
        return try verify()
    }

    /// Does all that a restore of this backup does, in a file without a name that is gone afterwards.
    /// - Returns: what the restored store would hold.
    @available(*, noasync)
    public func rehearseRestore(clock: any StoreClock) throws(StoreError) -> StoreContents {
        try refuseDamaged()
        do {
            let copy = try Self.prepared(
                path, in: .temporary(functions: ScalarFunction.ofQueries), CounterFloor(), clock)
            let contents = try Self.contents(of: copy, at: path)
            try copy.close()
            return contents
        } catch {
            throw StoreError(error)
        }
    }

    @available(*, noasync)
    private func refuseDamaged() throws(StoreError) {
        if let fault = try verify().faults.first {
            throw .damaged("The backup \(path) is damaged and was not restored: \(fault)")
        }
    }

    /// What a store has given to clients. One that is not there or cannot be read says nothing.
    @available(*, noasync)
    private static func floor(of path: String) -> CounterFloor {
        guard FileManager.default.fileExists(atPath: path),
            let store = try? ConnectionQueue.storeReader(path)
        else { return CounterFloor() }
        let floor = try? store.access { try Transaction(lookingInto: $0).counters.floor() }
        // A failed close changes nothing: the file was only read.
        try? store.close()
        return floor ?? CounterFloor()
    }

    /// A copy of a backup in the present version that knows that it was restored, whole.
    private static func prepared(
        _ backup: String, in copy: ConnectionQueue, _ replaced: CounterFloor,
        _ clock: any StoreClock
    ) throws -> ConnectionQueue {
        let source = try ConnectionQueue.storeReader(backup)
        try StoreRebuild.copy(source, to: copy)
        try source.close()
        try Migrations.present.run(on: copy)
        try copy.transaction(.immediate) { db in
            let transaction = Transaction(
                db: db, identity: "", now: clock.now(), ids: SystemIDSource(),
                effects: TransactionEffects())
            let restoration = Restoration(transaction: transaction)
            try restoration.refuseForeignValues()
            try restoration.keepForwardableHeaders()
            try transaction.attempts.recover()
            try transaction.runs.recover()
            try restoration.noteRestored(replacing: replaced)
            try transaction.flush()
        }
        if let fault = try contents(of: copy, at: backup).faults.first {
            throw StoreError.damaged("The store that \(backup) becomes is damaged: \(fault)")
        }
        return copy
    }

    /// The file whose contents are replaced; what it held is kept. One that cannot be read is put
    /// aside whole.
    private func vacated(keeping kept: String) throws -> ConnectionQueue {
        guard FileManager.default.fileExists(atPath: path) else {
            return try ConnectionQueue.storeWriter(path)
        }
        try DatabaseFiles.remove(kept)
        do {
            let store = try ConnectionQueue.storeWriter(path)
            let old = try ConnectionQueue.storeWriter(kept)
            try Backup.copy(store, over: old)
            try old.close()
            return store
        } catch {
            let failure = StoreError(opening: path, error)
            guard case .damaged = failure else { throw failure }
            try DatabaseFiles.move(path, to: kept)
            return try ConnectionQueue.storeWriter(path)
        }
    }
}

/// Makes a store of what a backup holds, which another hand may have changed. The rows are in the
/// present version by now.
struct Restoration {
    let transaction: Transaction
    /// 2020 in seconds since 1970: no store gave a positive provisional id before.
    private static let firstSecond: Int64 = 1_577_836_800

    /// Refuses values that the readers of this store cannot read, and ids that no item can have: they
    /// would become part of a path that is asked of the backend.
    /// - Throws: ``StoreError`` with the sentence that says what is wrong.
    func refuseForeignValues() throws {
        // Of an entry that cannot be undone nothing is sent.
        try refuse(
            "An operation has an id that no item can have.",
            """
            SELECT item_id FROM operations
            UNION ALL SELECT item_id FROM undo_points
            UNION ALL SELECT copy_id FROM undo_points WHERE copy_id IS NOT NULL
            UNION ALL SELECT alias FROM aliases UNION ALL SELECT id FROM aliases
            UNION ALL SELECT item_id FROM history WHERE undoable = 1 AND item_id IS NOT NULL
            """
        ) { (try? ItemID($0[0] as String)) == nil }
        try refuse(
            "An operation has a kind, state or generation that no operation can have.",
            """
            SELECT kind, state, generation FROM operations
            UNION SELECT kind, state, generation FROM undo_points
            """
        ) { row in
            OperationKind(rawValue: row[0]) == nil || OperationState(rawValue: row[1]) == nil
                || Generation(rawValue: row[2]) == nil
        }
        try refuse(
            "An entry of history has an actor that no entry can have.",
            """
            SELECT actor FROM operations UNION SELECT actor FROM undo_points
            UNION SELECT actor FROM history
            """
        ) { Actor(rawValue: $0[0]) == nil }
        try refuse(
            "An entry of history has a kind that no entry can have.",
            "SELECT DISTINCT kind FROM history"
        ) { HistoryKind(rawValue: $0[0]) == nil }
    }

    private func refuse(
        _ sentence: String, _ sql: String, _ isForeign: (StatementRow) -> Bool
    ) throws {
        let found = try transaction.all(sql) { isForeign($0) ? true : nil }
        if !found.isEmpty { throw StoreError.damaged(sentence) }
    }

    /// Keeps those header fields of operations that clients may have sent on (``ForwardableName``), so
    /// that no other is sent to the backend: none that signs in, none of the connection.
    func keepForwardableHeaders() throws {
        for table in ["operations", "undo_points"] {
            let changed: [(Int64, String)] = try transaction.all(
                "SELECT rowid, headers FROM \(table) WHERE headers <> '[]'"
            ) { row -> (Int64, String)? in
                let text: String = row[1]
                let kept = HTTPFields(stored: text).forwardable.stored
                if kept == text { return nil }
                return (row[0] as Int64, kept)
            }
            for (number, headers) in changed {
                try transaction.run(
                    "UPDATE \(table) SET headers = ? WHERE rowid = ?", [headers, number])
            }
        }
    }

    /// Tells a store that a backup took its place: it remembers less than has happened.
    ///
    /// 1. What was open then may have been sent since: every row is read back before anything is
    ///    sent. A new item of an integer table is looked for above the highest id known here.
    /// 2. Rows that the backend has deleted since are in the backup as they were: without pull tokens the
    ///    first pull compares every row.
    /// 3. Clients with stores of their own may hold later stamps than the backup: every row gets a new one,
    ///    in the old order, so that they take it again.
    /// 4. They may also hold provisional ids that the backup does not know: the next ones begin as far below
    ///    the first one as seconds have passed since 2020. A store gives fewer ids than that.
    /// - Parameter replaced: what the store has given to clients that the backup replaces.
    func noteRestored(replacing replaced: CounterFloor) throws {
        try transaction.run("DELETE FROM tokens")
        try transaction.run(
            """
            UPDATE operations SET highest_id = coalesce(highest_id, (SELECT max(CAST(id AS INTEGER))
              FROM items WHERE items.table_id = operations.table_id
                AND (deleted = 0 OR server_deleted = 1) AND NOT EXISTS (SELECT 1
                  FROM operations AS head WHERE head.seq = items.pending AND head.kind = 'insert')), 0)
            WHERE kind = 'insert' AND closed_at IS NULL
              AND table_id IN (SELECT id FROM tables WHERE id_kind = 'integer')
            """)
        try transaction.run(
            """
            UPDATE operations SET maybe_applied = 1, may_arrive_late = 1, revision = revision + 1
            WHERE state IN ('queued', 'waiting', 'unknown', 'quarantined')
              AND successor_of IS NULL
            """)
        try transaction.run(
            """
            UPDATE operations SET state = 'unknown', next_attempt_at = ?,
              reason = 'The store was restored; the row will be read back.'
            WHERE state IN ('queued', 'waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL
            """, [transaction.now.milliseconds])
        try transaction.run(
            """
            UPDATE items SET stamp = fresh.stamp FROM (
              SELECT items.rowid AS item, max(?1, last_stamp)
                + row_number() OVER (PARTITION BY table_id ORDER BY stamp, items.rowid) AS stamp
              FROM items JOIN table_counters USING (table_id)) AS fresh
            WHERE fresh.item = items.rowid
            """, [max(transaction.now.milliseconds, replaced.stamp)])
        let seconds = max(transaction.now.milliseconds / 1000 - Self.firstSecond, 0)
        let floor = replaced.joined(
            CounterFloor(provisionalID: StoreLimits.largestProvisionalID - seconds))
        try transaction.run(
            """
            UPDATE table_counters SET last_stamp = max(?1, coalesce(
              (SELECT max(stamp) FROM items WHERE items.table_id = table_counters.table_id),
              last_stamp)), next_provisional_id = min(?2, next_provisional_id)
            """, [floor.stamp, floor.provisionalID])
        try transaction.counters.keepForNewTables(floor)
    }
}

extension HTTPFields {
    /// Those whose names clients may have sent on, in their order.
    fileprivate var forwardable: HTTPFields {
        var kept = HTTPFields()
        for field in self where ForwardableName(field.name.rawName) != nil { kept.append(field) }
        return kept
    }
}
