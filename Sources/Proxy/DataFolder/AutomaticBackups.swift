import Logging
import Platform
import SyncCore
import TablesProtocol

/// How often backups are made, and how many are kept.
package struct BackupPlan: Sendable, Hashable {
    /// The folder of the backups; nil for `backups` in the data folder.
    package var folder: String?
    /// Seconds between two backups; nil for none by itself.
    package var everySeconds: Int64?
    package var keep = Limits.backupsKept

    /// The plan without automatic backups.
    package init() {}

    /// When the next backup is due.
    /// - Parameters:
    ///   - begun: when the backups that are there began.
    ///   - failedAt: when the last try failed; nil after a success.
    ///   - now: the present time. After the clock was set back, backups in the future do not count: they
    ///     would put off the next one, or hide that it was made.
    func due(begun: [Instant], failedAt: Instant?, now: Instant) -> Instant? {
        guard let everySeconds else { return nil }
        let latest = begun.filter { $0 <= now }.max()
        let planned = latest?.adding(seconds: everySeconds) ?? now
        let retry = failedAt.flatMap {
            $0 > now ? nil : $0.adding(seconds: Limits.backupRetrySeconds)
        }
        return [planned, retry].compactMap(\.self).max()
    }
}

/// Makes the backups of a plan, checks each, and removes the oldest ones.
actor AutomaticBackups {
    struct State: Sendable {
        let folder: String
        let plan: BackupPlan
        /// The whole backups, the oldest first.
        let backups: [BackupFolder.Kept]
        /// Why the last try failed; nil after a success, and before the first try.
        let failure: String?
        /// When the next one is due; nil without a plan.
        let next: Instant?
    }

    private let data: DataFolder
    private let plan: BackupPlan
    private let folder: BackupFolder
    private let now: @Sendable () -> Instant
    private let sleep: @Sendable (Int64) async -> Void
    private let log: Logger
    private let executor = BlockingExecutor(worker: 0)
    private var failure: (at: Instant, sentence: String)?

    /// - Parameters:
    ///   - data: the data folder of which backups are made.
    ///   - now: the wall clock.
    ///   - sleep: returns after so many seconds, or when the task is cancelled.
    init(
        of data: DataFolder, plan: BackupPlan, now: @escaping @Sendable () -> Instant,
        sleep: @escaping @Sendable (Int64) async -> Void, log: Logger
    ) {
        (self.data, self.plan, self.now, self.sleep, self.log) = (data, plan, now, sleep, log)
        folder = BackupFolder(path: plan.folder ?? BackupFolder.standardPath(of: data))
    }

    var state: State {
        let backups = folder.backups
        return State(
            folder: folder.path, plan: plan, backups: backups, failure: failure?.sentence,
            next: plan.due(begun: backups.map(\.at), failedAt: failure?.at, now: now()))
    }

    /// Makes each backup that is due, until cancelled.
    func run() async {
        guard plan.everySeconds != nil else { return }
        while !Task.isCancelled {
            if let due = state.next, due <= now() { await makeUnlessCancelled() }
            await sleep(Limits.backupLookSeconds)
        }
    }

    /// Makes a backup, and returns at its end or when cancelled: a stop of the process must not wait for a
    /// long copy. What the end of the process leaves of it is removed a day later.
    private func makeUnlessCancelled() async {
        let (done, end) = AsyncStream.makeStream(of: Void.self)
        // Unstructured, since a copy cannot be interrupted. It ends with the copy, or with the process.
        Task {
            _ = await make()
            end.finish()
        }
        for await _ in done {}
    }

    /// Makes a backup now, reads it again from the disk and compares it with its manifest, and removes the
    /// backups that are too many. One that is not as it was written is removed, and counts as failed. What an
    /// end of the process left of a backup is removed first.
    func make() async -> Result<(backup: BackupFolder.Kept, stores: [Backup.Entry]), StartProblem> {
        let at = now()
        let kept = BackupFolder.Kept(path: folder.path(at: at), at: at)
        let result = await executor.value { [data, folder, plan] in
            Self.make(kept, of: data, in: folder, keeping: plan.keep)
        }
        switch result {
        case .success(let stores):
            failure = nil
            log.info(
                "backup made", metadata: ["path": "\(kept.path)", "stores": "\(stores.count)"])
            return .success((kept, stores))
        case .failure(let problem):
            failure = (at, problem.sentence)
            log.error("backup failed", metadata: ["problem": "\(problem.sentence)"])
            return .failure(problem)
        }
    }

    /// Restores a backup to temporary files without names, which shows that it can be restored.
    /// - Returns: the restored stores; nil if there is no backup of that time.
    func rehearse(
        _ at: Instant
    ) async -> Result<(backup: BackupFolder.Kept, stores: [Backup.Entry]), StartProblem>? {
        guard let kept = folder.backups.first(where: { $0.at == at }) else { return nil }
        return await executor.value { () -> Result<[Backup.Entry], StartProblem> in
            Result { () throws(StartProblem) in
                let backup = Backup(path: kept.path)
                return try backup.rehearse(try backup.verified())
            }
        }.map { (kept, $0) }
    }

    private static func make(
        _ kept: BackupFolder.Kept, of data: DataFolder, in folder: BackupFolder, keeping: Int
    ) -> Result<[Backup.Entry], StartProblem> {
        let leftBefore = kept.at.adding(seconds: -Limits.unfinishedBackupSeconds)
        for part in folder.unfinished(begunBefore: leftBefore) { try? Files.removeFolder(part) }
        do throws(StartProblem) {
            try checkSpace(for: data, in: folder)
            _ = try Backup.make(of: data, at: kept.path)
            do {
                let stores = try Backup(path: kept.path).verified()
                let excess = BackupFolder.excess(folder.backups, keeping: keeping, now: kept.at)
                for old in excess { try? Files.removeFolder(old.path) }
                return .success(stores)
            } catch {
                try? Files.removeFolder(kept.path)
                throw error
            }
        } catch {
            return .failure(error)
        }
    }

    /// Throws if the disk has fewer free bytes than the stores take. Such a backup would fail, and where it
    /// shares the disk with the stores, clients could not write until then.
    private static func checkSpace(
        for data: DataFolder, in folder: BackupFolder
    ) throws(StartProblem) {
        let identities = [Identity.anonymousKey] + data.identities.map(\.key)
        let bytes = identities.reduce(Int64(0)) { $0 + (Files.size(data.storePath($1)) ?? 0) }
        // If it cannot be made, the backup says why.
        try? Files.makeFolder(folder.path)
        guard let free = Files.freeBytes(folder.path), free < UInt64(bytes) else { return }
        throw StartProblem(
            "A backup may need \(bytes) bytes, and the disk of \(folder.path) has \(free) free: free "
                + "space, or name a folder on another disk with --backup-folder.", .error)
    }
}
