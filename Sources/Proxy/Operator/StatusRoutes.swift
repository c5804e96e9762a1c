import HTTPMessage
import HTTPTypes
import Platform
package import SyncCore
import TablesProtocol

/// The state of the program and of each store: backend, queue, ledger, tables, mode and settings.
package struct StatusRoutes: Sendable {
    let tenants: TenantRegistry
    let rejections: RejectionLog
    /// The rules of the guard, and the addresses that this program listens on.
    let rules: CurrentRules
    /// The number of people who can log in to this machine.
    let loginUsers: Int
    let folder: DataFolder
    let process: ProcessReport
    let startedAt: Instant
    let now: @Sendable () -> Instant

    package static let status = Route<Answers.Status>(
        .get, "/status", "status", .status, "State of backend, queue, ledger and tables",
        answers: "The status.")
    package static let setMode = Route<Answers.Mode>(
        .post, "/mode", "setMode", .status, "Go offline or online by choice",
        answers: "The mode now.", body: [mode, forSeconds], bodyName: "ModeRequest")
    package static let settings = Route<Answers.Settings>(
        .get, "/settings", "settings", .status, "Settings of sync", answers: "The settings.")
    package static let changeSettings = Route<Answers.Settings>(
        .patch, "/settings", "changeSettings", .status, "Change settings of sync",
        answers: "The settings now.", body: SettingsPatch.fields, bodyName: "SettingsPatch",
        needsBody: true)
    package static let identities = Route<Page<Answers.KnownIdentity>>(
        .get, "/identities", "identities", .status, "Every identity that has a store",
        answers: "Anonymous first.", of: .program)
    package static let storage = Route<Answers.StoredBytes>(
        .get, "/storage", "storage", .status, "What a store takes on disk, by what it is for",
        details: "Reads every page of the store's file.", answers: "The store.")
    package static let rejected = Route<Page<Answers.Rejection>>(
        .get, "/rejections", "rejections", .status, "Requests refused by the guard, by reason",
        answers: "By reason.", of: .program)
    package static let running = Route<Answers.ProcessReport>(
        .get, "/process", "process", .status,
        "The process: the settings that hold, its libraries, and the end of its log",
        answers: "Without secrets.", of: .program)

    var routes: [OperatorRoute] {
        [
            .later(Self.status, tenants, status), .later(Self.setMode, setMode),
            .later(Self.settings, tenants) { tenant, _ in
                Answers.Settings(await tenant.engine.settings)
            },
            .later(Self.changeSettings, changeSettings), .later(Self.identities, identities),
            .later(Self.storage, tenants, storage),
            .now(Self.rejected) { _ in
                Page(rejections.all.map { Answers.Rejection($0) })
            },
            .now(Self.running) { _ in
                Answers.ProcessReport(
                    version: Version.text, startedAt: startedAt, libraries: process.libraries,
                    settings: process.settings(), log: process.log())
            },
        ]
    }

    /// Whether the program talks to the backend, in words.
    package static let mode = Field<String>(
        "mode", .word(["online", "offline"]), isRequired: true)
    package static let forSeconds = Field<Int64>(
        "forSeconds", .integer(1...Limits.offlineSecondsMax),
        "With offline: back online after this time.")

    /// Warnings for the operator about the settings and the stores.
    var warnings: [String] {
        get async {
            let waiting = await tenants.waitingWarnings()
            let unsigned = await tenants.unsigned().map { [$0.sentence] } ?? []
            return tenants.warnings + waiting + unsigned
                + rules.snapshot().warnings(loginUsers: loginUsers)
        }
    }

    private func status(_ tenant: Tenant, _: OperatorCall) async throws -> Answers.Status {
        let status = try await tenant.engine.status()
        let current = await tenant.engine.runs().first { $0.state == .running }
        return .init(
            identity: tenant.identity, version: Version.text, startedAt: startedAt,
            addresses: rules.addresses.map { .init($0) }, backend: status.backend,
            mode: .init(status.mode), queue: status.queue, ledger: .init(status.ledger),
            tables: status.tables.map { .init($0, identity: tenant.identity) },
            wantedTables: wantedTables.map(\.text), lastSync: status.lastSync,
            nextSync: status.nextSync,
            currentRun: current,
            warnings: await warnings + status.warnings, rejectedRequests: rejections.total,
            identities: tenants.identities,
            unsigned: await tenants.unsigned().map {
                .init(operations: $0.operations, identity: $0.user, sentence: $0.sentence)
            })
    }

    /// The tables that clients of any identity have read, and that no sync has pulled.
    private var wantedTables: [TableName] {
        var wanted: [TableName] = []
        for table in tenants.all.flatMap(\.store.wantedTables) where !wanted.contains(table) {
            wanted.append(table)
        }
        return wanted
    }

    private func setMode(_ call: OperatorCall) async throws -> Answers.Mode {
        let mode: EngineStatus.Mode
        let seconds = call.body[Self.forSeconds]
        if call.body[Self.mode] == "offline" {
            mode = .offline(until: seconds.map { now().adding(seconds: $0) })
        } else if seconds == nil {
            mode = .online
        } else {
            throw Problem.invalid(
                "forSeconds goes with the mode offline.", pointer: "/forSeconds")
        }
        if call.query[Fields.identity] == nil {
            await tenants.setModeOfAll(mode)
        } else {
            let tenant = try await tenants.tenant(of: call)
            await tenant.engine.setMode(mode)
            await tenant.refreshBackendStatus()
        }
        return Answers.Mode(mode)
    }

    private func changeSettings(_ call: OperatorCall) async throws -> Answers.Settings {
        let patch = SettingsPatch(body: call.body)
        guard call.query[Fields.identity] == nil else {
            let tenant = try await tenants.tenant(of: call)
            try await tenant.engine.update(patch.applied(to:))
            return Answers.Settings(await tenant.engine.settings)
        }
        try await tenants.updateAll(patch.applied(to:))
        return Answers.Settings(await tenants.anonymous.engine.settings)
    }

    private func storage(_ tenant: Tenant, _: OperatorCall) async throws -> Answers.StoredBytes {
        let usage = try await tenant.store.health.usage(
            logBytes: Files.size(tenant.store.path + "-wal") ?? 0)
        return .init(
            identity: tenant.identity, bytes: usage.bytes, tombstones: usage.tombstones,
            parts: usage.parts,
            retention: await tenant.engine.settings.retention)
    }

    /// Every identity that has a store, with its queue.
    private func identities(
        _: OperatorCall
    ) async throws -> Page<Answers.KnownIdentity> {
        var rows: [Answers.KnownIdentity] = []
        for known in tenants.overview { rows.append(try await row(known)) }
        return Page(rows)
    }

    private func row(
        _ known: TenantRegistry.Known
    ) async throws(StoreError) -> Answers.KnownIdentity {
        switch known.state {
        case .open(let tenant):
            let status = try await tenant.engine.status()
            let first = try await tenant.store.lists.operations(
                OperationFilter(), after: nil, limit: 1)
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

/// A change of settings from a request; a setting that is not named stays.
package struct SettingsPatch: Sendable {
    /// The body of the request.
    let body: JSONValue

    static let fields: [any RequestField] = [
        triggers, interval, debounce, parallelism, maxAttempts, pageRows, tables,
    ]
    private static let triggers = Field<[Trigger]>(
        "triggers", .list(.words(of: Trigger.self)),
        "What starts a sync. `manual` is always among them.")
    private static let interval = Field<Int>(
        "intervalSeconds", .integer(1...Limits.syncIntervalSecondsMax))
    private static let debounce = Field<Int>(
        "debounceMs", .integer(0...Limits.debounceMillisecondsMax),
        "Rest after a write before it is pushed.")
    private static let parallelism = Field<Int>(
        "parallelism", .integer(1...SyncLimits.parallelPushes), "Operations in flight at once.")
    private static let maxAttempts = Field<Int>(
        "maxAttempts", .integer(1...Limits.attemptsMax),
        "Own failures of an operation until it is quarantined.")
    private static let pageRows = Field<Int>(
        "pageRows", .integer(1...SyncLimits.pullPageRows),
        "Rows asked for in one page of a pull.")
    private static let tables = Field<[String]>(
        "tables", .list(.anyText),
        "Tables that are pulled at every sync, beside those the store holds.")

    func applied(to settings: SyncSettings) throws(Problem) -> SyncSettings {
        SyncSettings(
            // A manual sync is always allowed.
            triggers: body[Self.triggers].map { Set($0).union([.manual]) } ?? settings.triggers,
            interval: body[Self.interval].map { .seconds($0) } ?? settings.interval,
            debounce: body[Self.debounce].map { .milliseconds($0) } ?? settings.debounce,
            parallelism: body[Self.parallelism] ?? settings.parallelism,
            tables: try named() ?? settings.tables, trustedTables: settings.trustedTables,
            maxAttempts: body[Self.maxAttempts] ?? settings.maxAttempts,
            pageRows: body[Self.pageRows] ?? settings.pageRows,
            retention: settings.retention, checkCopies: settings.checkCopies)
    }

    private func named() throws(Problem) -> [TableName]? {
        let names = body[Self.tables]?.map { TableName($0) }
        if names?.contains(nil) == true {
            throw .invalid("tables must be a list of names of tables.", pointer: "/tables")
        }
        return names?.compactMap(\.self)
    }
}
