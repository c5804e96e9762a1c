import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

// The data folder and the stores in it.
extension Doctor {
    func folderFindings() -> [Finding] {
        let check = "data folder"
        guard Files.exists(folder.path) else {
            return [.ok(check, "\(folder.path) is not there yet; the first start makes it.")]
        }
        var findings: [Finding] = []
        do {
            // Root may look into the folder of a service that runs.
            let owner =
                isRunning && FolderOwner.isAnother(folder) ? Files.status(folder.path)?.owner : nil
            try folder.refuseForeign(owner: owner ?? ThisProcess.user)
        } catch {
            findings.append(
                .problem("permissions", error.sentence, "Do that, then start Understudy again."))
        }
        if let free = Files.freeBytes(folder.path), free < Limits.freeBytes {
            findings.append(
                .warning(
                    "disk space", "\(free >> 20) MiB are free on the disk of \(folder.path).",
                    "Free some: without space no write is accepted."))
        }
        return findings.isEmpty ? [.ok(check, "\(folder.path) is its owner's alone.")] : findings
    }

    /// The contents of a store, read once for all findings.
    struct StoreInspection {
        let identity: String
        let result: Result<StoreContents, StoreError>

        /// The contents; nil if it cannot be read.
        var contents: StoreContents? { try? result.get() }
    }

    func inspectStores() -> [StoreInspection] {
        guard folder.hasStore else { return [] }
        return ([Identity.anonymousKey] + folder.identities.map(\.key)).map { identity in
            StoreInspection(identity: identity, result: folder.inspect(identity))
        }
    }

    func storeFindings(_ stores: [StoreInspection]) -> [Finding] {
        let check = "store"
        do {
            try folder.refuseCutRestore()
        } catch {
            return [.problem(check, error.sentence, "Do that, then start Understudy again.")]
        }
        guard folder.hasStore else { return [.ok(check, "There is none yet.")] }
        let general =
            [sqliteFinding()] + budgetFindings(stores) + waitingFindings(stores)
            + attentionFindings(stores)
        return general
            + stores.map { store in
                switch store.result {
                case .success(let contents):
                    if let first = contents.faults.first { return damage(store.identity, first) }
                    return .ok(
                        check,
                        "\(store.identity): sound, \(contents.items) items, "
                            + "\(contents.ledger.queue.open) open operations.")
                case .failure(.otherVersion(let sentence)):
                    return .problem(
                        check, "\(store.identity) is of another version. \(sentence)",
                        "Nothing is damaged. Install the version that wrote it, or name a new folder "
                            + "with --data.")
                case .failure(.readOnly(let sentence)), .failure(.cannotOpen(let sentence)):
                    return .problem(
                        check, "\(store.identity) cannot be opened. \(sentence)",
                        "Nothing is known to be damaged: restore nothing. \(folder.adviceToOpen)")
                case .failure(.full(let sentence)):
                    return .problem(
                        check, "\(store.identity) cannot be opened. \(sentence)",
                        "Nothing is known to be damaged: restore nothing. Free space on the disk of "
                            + "\(folder.path).")
                case .failure(let error):
                    return unreadable(store.identity)
                        ?? damage(store.identity, error.description)
                }
            }
    }

    /// The findings on stores that have used up their budget, or nearly.
    private func budgetFindings(_ stores: [StoreInspection]) -> [Finding] {
        guard let budget = value(Settings.diskBudget) else { return [] }
        return stores.compactMap { store in
            guard let used = store.contents?.usedBytes,
                StoreContents.isNearlyFull(usedBytes: used, budgetBytes: budget)
            else { return nil }
            return .warning(
                "disk budget",
                "\(store.identity) uses \(used >> 20) MiB, and its disk-budget is \(budget >> 20) MiB.",
                "Rows that the backend has too are dropped for new ones; when there are none, writes get "
                    + "507. Sync or discard what waits, or raise disk-budget.")
        }
    }

    /// The findings on rows that are set aside, and on operations that were tried often.
    private func attentionFindings(_ stores: [StoreInspection]) -> [Finding] {
        stores.flatMap { store -> [Finding] in
            let (options, contents) = (option(for: store.identity), store.contents)
            let rows = (contents?.setAside ?? []).map { sentence in
                Finding.warning(
                    "set aside", "\(store.identity): \(sentence)",
                    "Correct them at the backend: each pull asks for them again. See them with: "
                        + "understudy tables set-aside TABLE\(options)")
            }
            let operations = (contents?.triedOften ?? []).map { sentence in
                Finding.warning(
                    "tries", "\(store.identity): \(sentence)",
                    "See its requests with: understudy queue show ID\(options)")
            }
            return rows + operations
        }
    }

    /// The option of commands about a store.
    func option(for identity: String) -> String {
        identity == Identity.anonymousKey ? "" : " --identity \(identity)"
    }

    /// The findings on stores that were bound to another backend, with changes whose users have not signed in
    /// there.
    private func waitingFindings(_ stores: [StoreInspection]) -> [Finding] {
        let waiting: Set<String>
        do {
            waiting = try folder.waitingStores()
        } catch {
            return [
                .problem(
                    "sign-in", error.sentence,
                    "Do that, then start Understudy again.")
            ]
        }
        return stores.compactMap { store in
            guard waiting.contains(store.identity), let contents = store.contents,
                contents.ledger.queue.open > 0
            else { return nil }
            return .warning(
                "sign-in",
                "\(store.identity): \(contents.ledger.queue.open) changes wait until their user signs "
                    + "in at this backend.",
                "If the user gets another identity there, start once with: understudy serve --rebind "
                    + "--identity \(store.identity)=USER (the user's id at this backend)")
        }
    }

    private func sqliteFinding() -> Finding {
        let version = Store.sqliteVersion
        let note =
            Store.hasLogResetFault
            ? " Its fault with two connections that copy a log cannot occur: only the writer does."
            : ""
        return .ok("SQLite", "Version \(version).\(note)")
    }

    /// The finding on a disk that fails; nil if the files can be read. To SQLite a failing disk looks like
    /// damage, so the files are read whole.
    private func unreadable(_ identity: String) -> Finding? {
        for suffix in ["", "-wal"] {
            do {
                guard let file = try? folder.storeFile(identity) else { continue }
                try Files.checkReadable(file + suffix)
            } catch {
                return .problem(
                    "store", "\(identity) cannot be read: \(error)",
                    "Look at the disk and the system's log. Copy \(folder.path)/stores to another disk "
                        + "before anything else.")
            }
        }
        return nil
    }

    private func damage(_ identity: String, _ fault: String) -> Finding {
        .problem(
            "store", "\(identity) is damaged: \(fault)",
            "Stop Understudy, keep a copy of \(folder.path)/stores, then restore a backup with: "
                + "understudy restore FOLDER")
    }
}

/// What the running Understudy of a data folder says of itself. It may have been started with flags and
/// variables that another command does not see.
struct RunningState: Sendable, Hashable {
    /// The tables that its clients have read and that no sync has pulled.
    var wanted: [TableName] = []
    /// Its libraries, its settings and the end of its log; nil if it does not say.
    var process: Answers.ProcessReport?
    var settings: [String: [String]] = [:]
    /// What it has found of its backend.
    var backend: BackendStatus?
    /// A sentence for each table that the backend fails for.
    var failures: [String] = []
    /// The identity whose queue ``held`` is about; nil for `anonymous`.
    var identity: String?
    /// What keeps queued operations from being sent; nil if there are none, or nothing does.
    var held: String?
    /// What was written without a sign-in, which the backend refuses; nil without any.
    var unsigned: String?
    /// The other users with operations that are not being sent.
    var users: [User] = []
    /// Why the last automatic backup failed; nil if it did not.
    var backupFailure: String?

    /// A user's operations that wait for the backend and are not being sent.
    struct User: Sendable, Hashable {
        let identity: String
        let operations: Int
        /// What holds them; nil where the store is closed.
        let held: String?
    }

    /// Asks a running Understudy. What it does not answer is left out.
    /// - Parameter identity: whose queue; nil for `anonymous`.
    static func read(_ client: OperatorClient, identity: String?) async -> RunningState {
        var state = RunningState()
        state.identity = identity
        let status = try? await client.answer(StatusRoutes.status())
        state.backend = status?.backend
        state.failures = (status?.tables ?? []).compactMap { table in
            guard table.pullError != nil || table.pushWait != nil else { return nil }
            return table.warning.map { "\(table.name): \($0)" }
        }
        state.unsigned = status?.unsigned?.sentence
        state.wanted = (status?.wantedTables ?? []).compactMap { TableName($0) }
        state.process = try? await client.forAll.answer(StatusRoutes.running())
        for setting in state.process?.settings ?? [] {
            state.settings[setting.name] = setting.values
        }
        if status?.queue.queued ?? 0 > 0 { state.held = try? await Holding.read(client) }
        let identities = try? await client.forAll.answer(StatusRoutes.identities())
        for row in identities?.items ?? [] where row.identity != identity {
            if let found = await heldUser(row, client) { state.users.append(found) }
        }
        let backups = try? await client.forAll.answer(BackupRoutes.list())
        state.backupFailure = backups?.failure
        return state
    }

    /// The user of one row of `GET /identities`; nil if no operation of the user is held.
    private static func heldUser(
        _ row: Answers.KnownIdentity, _ client: OperatorClient
    ) async -> User? {
        let identity = row.identity
        guard identity != Identity.anonymousKey else { return nil }
        let forPerson = (row.conflicts ?? 0) + (row.quarantined ?? 0)
        let operations = (row.openOperations ?? 0) - forPerson
        guard operations > 0 else { return nil }
        // What holds the operations of a closed store is not asked: only a few stores are open at once.
        guard row.state == .open else {
            return User(identity: identity, operations: operations, held: nil)
        }
        guard let held = try? await Holding.read(client.of(identity)) else { return nil }
        return User(identity: identity, operations: operations, held: held)
    }

    /// The settings of the running Understudy that the checks need, as flags, without those that the command
    /// has itself. A relative path is left out, since it begins at another working directory. An address
    /// with a hidden password is left out too.
    func flags(missingIn sources: Sources) -> [String: [String]] {
        var flags: [String: [String]] = [:]
        for setting in ServeSetting.all
        where Self.examined.contains(setting.name) && sources.statements(setting).isEmpty {
            let values = settings[setting.name]
            let isPath: (String) -> Bool = { $0.hasPrefix("/") || $0.contains("=@/") }
            if Self.paths.contains(setting.name), values?.allSatisfy(isPath) != true { continue }
            if values?.contains(where: { $0.contains(ConfigurationProblem.hidden) }) == true {
                continue
            }
            flags[setting.name] = values
        }
        return flags
    }

    private static let paths: Set<String> = [
        Settings.backendCA.name, Settings.backendCertificate.name, Settings.backendKey.name,
        Settings.applicationKeyFile.name, Settings.backendHeader.name,
    ]

    private static let examined = paths.union([
        Settings.backend.name, Settings.table.name, Settings.allowPlainHTTP.name,
        Settings.diskBudget.name, Settings.backendProxy.name, Settings.backendGeneration.name,
        Settings.trustTable.name,
    ])
}
