import Foundation
import GRDB
import TablesProtocol

extension Store {
    /// Writes a whole, consistent and verified copy of the store as it is at one moment, while it is
    /// in use.
    ///
    /// 1. The copy grows beside its place, readable only by the owner.
    /// 2. It is on disk and verified before it gets its name.
    ///
    /// - Parameter path: where no file may be yet.
    @discardableResult
    public func backup(to path: String) async throws(StoreError) -> StoreContents {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw .cannotOpen("There is a file at \(path) already; name another one.")
        }
        let part = path + ".part"
        let result: Result<StoreContents, StoreError> = await withCheckedContinuation { done in
            operatorReader.asyncUnsafeRead { access in
                done.resume(returning: Self.copy(access, to: part, as: path))
            }
        }
        return try result.get()
    }

    /// Writes a copy of the store in a file, also while another process works on it.
    /// - Parameter path: where no file may be yet.
    @available(*, noasync)
    public static func backup(
        of file: String, to path: String
    ) throws(StoreError) -> StoreContents {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw .cannotOpen("There is a file at \(path) already; name another one.")
        }
        do {
            let store = try Connection.reader(file, budget: nil)
            let contents = try store.unsafeRead { db in
                try copy(.success(db), to: path + ".part", as: path).get()
            }
            try store.close()
            return contents
        } catch {
            throw Connection.opening(error, file)
        }
    }

    private static func copy(
        _ access: Result<Database, any Error>, to part: String, as path: String
    ) -> Result<StoreContents, StoreError> {
        do {
            try StoreFiles.remove(part)
            try StoreFiles.make(part)
            try access.get().execute(sql: "VACUUM INTO ?", arguments: [part])
            let contents = try verify(at: part)
            if let fault = contents.faults.first { throw StoreError.damaged(fault) }
            try StoreFiles.synchronise(part)
            try FileManager.default.moveItem(atPath: part, toPath: path)
            try StoreFiles.synchronise(
                URL(fileURLWithPath: path).deletingLastPathComponent().path)
            try StoreFiles.remove(part)
            return .success(contents)
        } catch {
            // What a failed removal leaves behind is overwritten by the next backup.
            try? StoreFiles.remove(part)
            return .failure(StoreError(error))
        }
    }

    /// Puts a backup into a store's place. No process may have the store open.
    ///
    /// 1. A backup that is damaged or of a newer version is refused, and nothing is changed.
    /// 2. Its rows go into a fresh file (see ``StoreRebuild``), which is migrated, gets its
    ///    indexes again, and is told what a restored store has to know (see
    ///    ``Restoration/noteRestored()``).
    /// 3. The store that was there is kept beside as `….before-restore`.
    /// 4. The copy takes its place in one transaction.
    ///
    /// - Returns: what the restored store holds.
    @available(*, noasync)
    public static func restore(
        _ backup: String, to path: String, clock: any StoreClock
    ) throws(StoreError) -> StoreContents {
        let contents = try verify(at: backup)
        if let fault = contents.faults.first {
            throw .damaged("The backup \(backup) is damaged and was not restored: \(fault)")
        }
        let (part, kept) = (path + ".restoring", path + ".before-restore")
        do {
            try StoreFiles.remove(part)
            let copy = try prepared(backup, in: part, clock)
            let store = try vacated(path, keeping: kept)
            try copy.backup(to: store)
            try copy.close()
            try store.close()
            try StoreFiles.remove(part)
        } catch {
            throw StoreError(error)
        }
        return try verify(at: path)
    }

    /// A copy of a backup in the present version that knows that it was restored.
    private static func prepared(
        _ backup: String, in part: String, _ clock: any StoreClock
    ) throws -> DatabaseQueue {
        let source = try Connection.reader(backup, budget: nil)
        let copy = try Connection.writer(part)
        try StoreRebuild.copy(source, to: copy)
        try source.close()
        try Migrations.present.run(on: copy)
        try copy.write { db in
            let transaction = Transaction(
                db: db, identity: "", now: clock.now(), ids: SystemIDSource(),
                effects: TransactionEffects())
            let restoration = Restoration(transaction: transaction)
            try restoration.refuseForeignValues()
            try restoration.keepForwardableHeaders()
            try TableIndexes(transaction).buildAgain()
            try transaction.attempts.recover()
            try transaction.runs.recover()
            try restoration.noteRestored()
            try transaction.flush()
        }
        return copy
    }

    /// The file whose contents are replaced; what it held is kept. One that cannot be read is put
    /// aside whole.
    private static func vacated(_ path: String, keeping kept: String) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: path) else {
            return try Connection.writer(path)
        }
        try StoreFiles.remove(kept)
        do throws(StoreError) {
            let store = try Connection.writer(path)
            do {
                let old = try Connection.writer(kept)
                try store.backup(to: old)
                try old.close()
            } catch {
                throw StoreError(error)
            }
            return store
        } catch {
            guard case .damaged = error else { throw error }
            try StoreFiles.move(path, to: kept)
            return try Connection.writer(path)
        }
    }
}

/// The files of one store, taken as one: SQLite keeps two more beside it.
enum StoreFiles {
    private static let suffixes = ["-wal", "-shm", ""]

    /// An empty file that only the owner may read.
    static func make(_ path: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if FileManager.default.fileExists(atPath: path) {
            try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        } else if !FileManager.default.createFile(
            atPath: path, contents: nil, attributes: attributes)
        {
            throw StoreError.cannotOpen("The file \(path) cannot be made.")
        }
        // The name is to be on disk too, which SQLite sees to for its own files alone.
        try synchronise(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Removes a store's files, as far as they exist.
    static func remove(_ path: String) throws {
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Gives a store's files another name.
    static func move(_ path: String, to other: String) throws {
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: other + suffix)
        }
    }

    /// Waits until a file, or the names in a folder, are on disk.
    static func synchronise(_ path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        try file.synchronize()
        try file.close()
    }
}
