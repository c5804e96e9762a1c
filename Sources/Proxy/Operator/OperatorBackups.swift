import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol

// Backups that this program makes by itself or when it is asked, and what the stores take on disk.
extension OperatorAPI {
    /// The backups of the folder, the latest first, and the plan.
    func backupList(_: OperatorCall) async -> Response {
        let state = await backups.state
        return .json(
            Answers.BackupPage(
                items: state.backups.reversed(), next: nil, total: state.backups.count,
                folder: state.folder, everySeconds: state.plan.everySeconds,
                keep: state.plan.keep, failure: state.failure, nextAt: state.next))
    }

    /// Makes and checks a backup now.
    func makeBackup(_: OperatorCall) async throws(Problem) -> Response {
        switch await backups.make() {
        case .success(let made):
            return .json(
                Answers.BackupMade(
                    path: made.backup.path, at: made.backup.at, stores: made.stores),
                status: .created, location: "/-/api/v1/backups")
        case .failure(let problem):
            throw Problem(
                status: .init(code: 507, reasonPhrase: "Insufficient Storage"),
                code: "backup-failed",
                detail: problem.sentence)
        }
    }

    /// Restores a backup to temporary files.
    func rehearseBackup(_ call: OperatorCall) async throws(Problem) -> Response {
        guard let time = Instant(parsing: call.parameter("at")) else {
            throw .invalid("The backup is named by its time, as the list has it.")
        }
        switch await backups.rehearse(time) {
        case .success(let (backup, stores))?:
            return .json(
                Answers.BackupMade(path: backup.path, at: backup.at, stores: stores))
        case .failure(let problem)?:
            throw Problem(status: .conflict, code: "backup-failed", detail: problem.sentence)
        case nil: throw .notFound("There is no backup of that time.")
        }
    }

    /// What the store of an identity takes on disk, by what it is for.
    func storage(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let log = Files.size(tenant.store.path + "-wal") ?? 0
        let usage = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.usage(logBytes: log)
        }
        return .json(
            Answers.StoredBytes(
                identity: tenant.identity, bytes: usage.bytes, tombstones: usage.tombstones,
                parts: usage.parts, retention: await tenant.engine.settings.retention))
    }

    /// Every identity that has a store, with its queue.
    func identityList(_: OperatorCall) async throws(Problem) -> Response {
        var rows: [Answers.KnownIdentity] = []
        for known in tenants.overview { rows.append(try await identityRow(known)) }
        return .json(Page(rows))
    }

    private func identityRow(
        _ known: TenantRegistry.Known
    ) async throws(Problem) -> Answers.KnownIdentity {
        switch known.state {
        case .open(let tenant):
            let status = try await mappingErrors { () throws(StoreError) in
                try await tenant.engine.status()
            }
            let first = try await mappingErrors { () throws(StoreError) in
                try await tenant.store.operations(OperationFilter(), after: nil, limit: 1)
            }
            return row(
                known, status.queue, items: status.tables.reduce(0) { $0 + $1.items },
                oldest: first.items.first?.createdAt)
        case .closed(let summary):
            return row(
                known, summary.ledger.queue,
                items: summary.tables.reduce(0) { $0 + $1.items }, oldest: summary.oldestAt)
        case .unexamined, .failed:
            return row(known, nil, items: nil, oldest: nil)
        }
    }

    private func row(
        _ known: TenantRegistry.Known, _ queue: QueueCounts?, items: Int?, oldest: Instant?
    ) -> Answers.KnownIdentity {
        .init(
            identity: known.identity, state: known.word, openOperations: queue?.open,
            conflicts: queue?.conflict, quarantined: queue?.quarantined, oldestAt: oldest,
            items: items, bytes: Files.size(folder.storePath(known.identity)))
    }
}
