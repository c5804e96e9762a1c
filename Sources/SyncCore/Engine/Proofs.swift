import Logging
import TablesProtocol

/// The proofs of an engine's backend: before anything is sent, a table has to give a list.
struct Proofs: InEngine {
    let context: EngineContext
    let backend: KnownBackend

    /// Looks for the backend outside a run.
    /// - Returns: why it cannot be used; nil if it answers.
    @discardableResult
    func probe() async -> PushStop? {
        let before = context.scheduler.backend.state
        let credential = backend.access.credential()
        guard credential != .missing else {
            backend.fail(
                Prover.Failure(state: .signedOut, reason: context.scheduler.backend.reason))
            return .signIn
        }
        if let failure = backend.namedWait() {
            backend.fail(failure)
            return .backend(failure)
        }
        let stop = await prove(credential)
        await backend.note(stop, credential)
        // No run ends here, so the change is announced now.
        if context.scheduler.backend.state != before { await announceStatus() }
        return stop
    }

    /// Proves the backend with the tables that this store knows or is to pull. Without any table there is
    /// nothing to send, so it is only checked whether the backend is in reach.
    func prove(_ credential: Credential, for wish: Scheduler.Wish? = nil) async -> PushStop? {
        let known = await provingTables(wish)
        let (tables, forbidden) = await allowed(known)
        // Each table named a time before which it is not to be asked.
        if tables.isEmpty, let forbidden { return .backend(forbidden) }
        guard !tables.isEmpty else { return await checkReachability(credential) }
        let remote = backend.remote(credential)
        var prover = backend.prover(remote)
        if prover.isGenerationOpen, !prover.isRemembered {
            let next = try? await store.read { try $0.dueOperations.next(upTo: .max, limit: 1) }
            prover.writers = next?.first?.generation
        }
        switch await prover.prove(tables) {
        case .proven(let generation):
            await backend.noteProof(of: generation)
            return nil
        case .failed(let failure):
            // The next proof begins with other tables.
            let failed = tables.filter { remote.failures.last(of: $0) != nil }
            backend.failedInProofs.removeAll { failed.contains($0) }
            backend.failedInProofs += failed
            // The pull reports this for its own table. Other tables are not affected.
            if failure.isAboutTable, await isUnknownHere(wish) {
                await backend.noteReachable(about: failure)
                return nil
            }
            return failure.state == .signedOut ? .signIn : .backend(failure)
        }
    }

    /// Whether the run pulls a table that the store does not have.
    private func isUnknownHere(_ wish: Scheduler.Wish?) async -> Bool {
        guard case .pull(let request) = wish else { return false }
        let known = (try? await store.read { try $0.tables.all().map(\.name) }) ?? []
        return !known.contains(request.table)
    }

    /// Checks whether the backend is in reach, with a table that many backends have. Any answer of a
    /// backend counts, even "no such table" or a refused protocol version, but not a network's sign-in page
    /// or a gateway's error. After a page with status 400 the other generations are tried; an answer to one
    /// of them counts. This is no proof: before anything is sent a list is asked for, and the store is not
    /// bound to the backend.
    private func checkReachability(_ credential: Credential) async -> PushStop? {
        guard let table = TableName("todoitem") else { return nil }
        var first: RemoteAnswer?
        for generation in [backend.generation] + backend.otherGenerations {
            var remote = backend.remote(credential)
            remote.generation = generation
            let answer = await remote.list(table, .any)
            first = first ?? answer
            if answer.isOfBackend {
                await backend.noteReachable()
                return nil
            }
            guard answer.mayNeedOtherGeneration else { break }
        }
        return first.map { .backend(Prover.failure($0, table)) }
    }

    /// The tables for a proof, the most likely first: pulled ones, then the requested one, then the others of
    /// the store, of the settings, and those that clients have read.
    private func provingTables(_ wish: Scheduler.Wish?) async -> [TableName] {
        let known = (try? await store.read { try $0.tables.all() }) ?? []
        var tables = known.filter(\.isComplete).map(\.name)
        if case .pull(let request) = wish { tables.append(request.table) }
        for table in known.map(\.name) + settings.tables + store.wanted.all
        where !tables.contains(table) {
            tables.append(table)
        }
        return tables
    }

    /// The tables of a proof after a failure of one table: it and the pulled and configured ones. Those that
    /// named a time before which they are not to be asked are left out.
    /// - Parameter goesLast: whether the others are asked first.
    func tables(afterFailureOf failed: TableName, _ goesLast: Bool) async -> [TableName] {
        let known =
            (try? await store.read { try $0.tables.all().filter(\.isComplete).map(\.name) }) ?? []
        let others = (known + settings.tables.filter { !known.contains($0) })
            .filter { $0 != failed }
        let (allowed, _) = await allowed([failed] + others)
        let tables = goesLast ? allowed.filter { $0 != failed } : allowed
        guard goesLast, allowed.contains(failed) else { return tables }
        // One less than all, since the table itself is asked too.
        return tables.prefix(SyncLimits.proofFaults - 1) + [failed]
    }

    /// The wait that the backend, or a table, named and that is not over; nil if there is none.
    func namedWait(of table: TableName) async -> Prover.Failure? {
        if let failure = backend.namedWait() { return failure }
        let (tables, failure) = await allowed([table])
        return tables.isEmpty ? failure : nil
    }

    /// The tables that may be listed now, those last that failed before.
    /// - Returns: also the failure of the others, which named a time.
    private func allowed(_ tables: [TableName]) async -> ([TableName], Prover.Failure?) {
        let now = clock.now()
        let waits =
            (try? await store.read { transaction in
                try tables.map { try transaction.tableWaits.wait(.pull, of: $0) }
            }) ?? tables.map { _ in nil }
        var (free, failing): ([TableName], [TableName]) = ([], [])
        var forbidden: Prover.Failure?
        for (table, wait) in zip(tables, waits) {
            if let wait, let time = wait.notBefore, time > now {
                let rest = Duration.milliseconds(time.milliseconds - now.milliseconds)
                let earliest = [forbidden?.retryAfter, rest].compactMap(\.self).min()
                forbidden = Prover.Failure(
                    state: .degraded, reason: wait.reason, retryAfter: earliest,
                    request: wait.request)
            } else if wait == nil {
                free.append(table)
            } else {
                failing.append(table)
            }
        }
        // Those that failed in earlier proofs come after those that did not, the latest last.
        let failed = backend.failedInProofs.filter { free.contains($0) }
        return (free.filter { !failed.contains($0) } + failed + failing, forbidden)
    }
}

extension RemoteAnswer {
    /// Whether only a /tables server can have given this answer, and nothing between it and us.
    fileprivate var isOfBackend: Bool {
        switch self {
        case .rows, .row, .empty, .missing, .rejected, .conflict, .unauthorized,
            // Some servers answer 404 with a page.
            .unusable(status: 404, .html),
            .unusable(status: 400, .notJSON), .unusable(status: 400, .unexpectedShape),
            .unusable(status: 400, .otherVersion):
            true
        case .failed, .unavailable, .unusable, .unreachable: false
        }
    }
}
