import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Backups that this program makes by itself or when it is asked, and what the stores take on disk.
extension OperatorAPI {
    /// The backups of the folder, the latest first, and the plan.
    func backupList() async -> Response {
        let state = await backups.state
        return .json(
            .members(
                ("items", .array(state.backups.reversed().map { .backup($0) })), ("next", .null),
                ("total", .number(state.backups.count)), ("folder", .string(state.folder)),
                ("everySeconds", .number(state.plan.everySeconds)),
                ("keep", .number(state.plan.keep)), ("failure", .text(state.failure)),
                ("nextAt", .time(state.next))))
    }

    /// Makes and checks a backup now.
    func makeBackup() async throws(Problem) -> Response {
        switch await backups.make() {
        case .success(let made):
            let stores = made.stores.map(Backup.json)
            return .json(
                .members(
                    ("path", .string(made.backup.path)), ("at", .time(made.backup.at)),
                    ("stores", .array(stores))), status: .created,
                location: "/-/api/v1/backups")
        case .failure(let problem):
            throw Problem(
                status: .init(code: 507, reasonPhrase: "Insufficient Storage"),
                code: "backup-failed",
                detail: problem.sentence)
        }
    }

    /// What the store of an identity takes on disk, by what it is for.
    func storage(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let log = Files.size(tenant.store.path + "-wal") ?? 0
        let usage = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.usage(logBytes: log)
        }
        let parts = usage.parts.map { part in
            JSONValue.members(
                ("kind", .string(part.kind.rawValue)), ("rows", .number(part.rows)),
                ("bytes", .number(part.bytes)))
        }
        return .json(
            .members(
                ("identity", .string(tenant.identity)), ("bytes", .number(usage.bytes)),
                ("tombstones", .number(usage.tombstones)), ("parts", .array(parts)),
                ("retention", .retention(await tenant.engine.settings.retention))))
    }

    /// Every identity that has a store, with its queue.
    func identityList() async throws(Problem) -> Response {
        var rows: [JSONValue] = []
        for known in tenants.overview { rows.append(try await identityRow(known)) }
        return .json(.page(rows, next: nil, total: rows.count))
    }

    private func identityRow(_ known: TenantRegistry.Known) async throws(Problem) -> JSONValue {
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
    ) -> JSONValue {
        .members(
            ("identity", .string(known.identity)), ("state", .string(known.word)),
            ("openOperations", .number(queue?.open)),
            ("conflicts", .number(queue?.conflict)), ("quarantined", .number(queue?.quarantined)),
            ("oldestAt", .time(oldest)),
            ("items", .number(items)),
            ("bytes", .number(Files.size(folder.storePath(known.identity)))))
    }
}

extension JSONValue {
    /// One backup of a list.
    fileprivate static func backup(_ backup: BackupFolder.Kept) -> JSONValue {
        .members(("path", .string(backup.path)), ("at", .time(backup.at)))
    }

    /// How long things are kept.
    static func retention(_ retention: Retention) -> JSONValue {
        .members(
            ("historySeconds", .number(retention.historySeconds)),
            ("attemptSeconds", .number(retention.attemptSeconds)),
            ("tombstoneSeconds", .number(retention.tombstoneSeconds)),
            ("historyBytes", .number(retention.historyBytes)),
            ("attemptBytes", .number(retention.attemptBytes)))
    }
}
