import Foundation
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
        try Self.refuseTaken(path)
        return try Self.value(
            await withCheckedContinuation { done in
                operatorReader.schedule { connection in
                    done.resume(returning: Result { try Self.copy(connection, to: path) })
                }
            })
    }

    /// Writes a copy of the store in a file, also while another process works on it.
    /// - Parameter path: where nothing may be yet, not even a link that leads nowhere.
    @available(*, noasync)
    public static func backup(
        of file: String, to path: String
    ) throws(StoreError) -> StoreContents {
        try refuseTaken(path)
        do {
            let store = try ConnectionQueue.storeReader(file)
            let contents = try store.access { try copy($0, to: path) }
            try store.close()
            return contents
        } catch {
            throw StoreError(opening: file, error)
        }
    }

    private static func refuseTaken(_ path: String) throws(StoreError) {
        // Asked of the name itself, and not of what a link leads to.
        guard (try? FileManager.default.attributesOfItem(atPath: path)) == nil else {
            throw .cannotOpen("There is a file at \(path) already; name another one.")
        }
    }

    @available(*, noasync)
    private static func copy(_ connection: Connection, to path: String) throws -> StoreContents {
        try Backup.write(connection, to: path) { part in
            let contents = try verify(at: part)
            if let fault = contents.faults.first { throw StoreError.damaged(fault) }
            return contents
        }
    }

    /// Puts a backup into a store's place. No process may have the store open.
    ///
    /// 1. A backup that is damaged or of a newer version is refused, and nothing is changed.
    /// 2. Its rows go into a fresh file (see ``StoreRebuild``), which is migrated, gets its
    ///    indexes again, and is told what a restored store has to know (see
    ///    ``Restoration/noteRestored(replacing:)``).
    /// 3. The store that was there is kept beside as `….before-restore`.
    /// 4. The copy takes its place in one transaction.
    ///
    /// - Parameter replaced: the store that clients have used until now, where it is not the one at `path`.
    /// - Returns: what the restored store holds.
    @available(*, noasync)
    public static func restore(
        _ backup: String, to path: String, replacing replaced: String? = nil, clock: any StoreClock
    ) throws(StoreError) -> StoreContents {
        try refuseDamaged(backup)
        let (part, kept) = (path + ".restoring", path + ".before-restore")
        do {
            try DatabaseFiles.remove(part)
            let copy = try prepared(
                backup, in: .storeWriter(part), floor(of: replaced ?? path), clock)
            let store = try vacated(path, keeping: kept)
            try Backup.copy(copy, over: store)
            try copy.close()
            try store.close()
            try DatabaseFiles.remove(part)
        } catch {
            throw StoreError(error)
        }
        return try verify(at: path)
    }

    /// Does all that a restore of a backup does, in a file without a name that is gone afterwards.
    /// - Returns: what the restored store would hold.
    @available(*, noasync)
    public static func rehearseRestore(
        of backup: String, clock: any StoreClock
    ) throws(StoreError) -> StoreContents {
        try refuseDamaged(backup)
        do {
            let copy = try prepared(
                backup, in: .temporary(functions: ScalarFunction.ofQueries), CounterFloor(), clock)
            let contents = try contents(of: copy, at: backup)
            try copy.close()
            return contents
        } catch {
            throw StoreError(error)
        }
    }

    private static func refuseDamaged(_ backup: String) throws(StoreError) {
        let contents = try verify(at: backup)
        if let fault = contents.faults.first {
            throw .damaged("The backup \(backup) is damaged and was not restored: \(fault)")
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
            try TableIndexes(transaction).rebuildAll()
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
    private static func vacated(_ path: String, keeping kept: String) throws -> ConnectionQueue {
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
