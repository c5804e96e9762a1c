public import HTTPMessage
import Logging
public import TablesProtocol

// Whether the backend may be asked, and whether it is the one that it claims to be: the proof before anything is
// sent, what its answers say about its reach, and the times before which it is not to be asked.
extension SyncEngine {
    /// The failure of a backend that named a time before which nothing may be asked of it; nil if there is
    /// none, or if the time has passed. Not even a run that a person asks for is begun before it.
    func namedWait() async -> Prover.Failure? {
        guard let time = backendNotBefore else { return nil }
        let rest = time.milliseconds - clock.now().milliseconds
        guard rest > 0 else {
            backendNotBefore = nil
            return nil
        }
        let status = scheduler.backend
        let reason =
            status.state == .degraded
            ? status.reason : "The backend has asked not to be tried before \(time.text)."
        return Prover.Failure(
            state: .degraded, reason: reason, retryAfter: .milliseconds(rest),
            request: status.failedRequest)
    }

    /// Stores the time before which the backend asked not to be tried, so that a restart obeys it too.
    func keepNamedWait(_ failure: Prover.Failure) async {
        guard failure.forbidsRequests, let wait = failure.retryAfter else { return }
        let time = clock.now().advanced(by: wait)
        backendNotBefore = time
        do {
            try await store.write { try $0.binding.setNotBefore(time) }
        } catch {
            log.warning("wait not stored", metadata: ["error": "\(error)"])
        }
    }

    /// Why nothing may be sent to the backend: the store belongs to another one. Nil if it does not.
    func otherBackendReason() async throws(StoreError) -> String? {
        if binding == nil {
            let address = backend.address
            let (binding, known, notBefore, owner, takers) = try await store.write { transaction in
                (
                    try transaction.binding.bind(to: address),
                    try transaction.binding.provenGeneration(),
                    try transaction.binding.notBefore(),
                    try transaction.binding.owner(), try transaction.binding.takers()
                )
            }
            self.binding = binding
            self.owner = owner
            self.takers = takers
            backendNotBefore = notBefore
            // The known generation is only tried first: the backend may have another one by now.
            if backend.generation == .auto, let known, binding == .bound {
                generation = known
                isGenerationRemembered = true
            }
        }
        guard case .other(let address) = binding else { return nil }
        let reason =
            "This data belongs to \(address). Nothing is sent to \(backend.address) before it is "
            + "accepted with --rebind."
        warnings = [reason]
        fail(Prover.Failure(state: .notTables, reason: reason, retryAfter: settings.interval))
        return reason
    }

    func remote(_ credential: Credential) -> Remote {
        Remote(
            transport: transport, address: backend.address, generation: generation,
            applicationKey: key, credential: credential, clock: clock,
            meter: meter, clientFields: learnedKeys)
    }

    func prover(_ remote: Remote) -> Prover {
        Prover(
            remote: remote, isGenerationOpen: backend.generation == .auto && !isGenerationKnown,
            isRemembered: isGenerationRemembered,
            unlisted: takers.union(settings.trustedTables))
    }

    /// Proves the backend with the tables that this store knows or is to pull. Without any table there is
    /// nothing to send, so it is only checked whether the backend is in reach.
    func prove(_ credential: Credential, for wish: Scheduler.Wish? = nil) async -> PushStop? {
        let known = await provingTables(wish)
        let (tables, forbidden) = await allowed(known)
        // Each table named a time before which it is not to be asked.
        if tables.isEmpty, let forbidden { return .backend(forbidden) }
        guard !tables.isEmpty else { return await checkReachability(credential) }
        let remote = remote(credential)
        var prover = prover(remote)
        if prover.isGenerationOpen, !isGenerationRemembered {
            let next = try? await store.read { try $0.dueOperations.next(upTo: .max, limit: 1) }
            prover.writers = next?.first?.generation
        }
        switch await prover.prove(tables) {
        case .proven(let generation):
            await noteProof(of: generation)
            return nil
        case .failed(let failure):
            // The next proof begins with other tables.
            let failed = tables.filter { remote.failures.last(of: $0) != nil }
            failedInProofs.removeAll { failed.contains($0) }
            failedInProofs += failed
            // The pull reports this for its own table. Other tables are not affected.
            if failure.isAboutTable, await isUnknownHere(wish) {
                await noteReachable(about: failure)
                return nil
            }
            return failure.state == .signedOut ? .signIn : .backend(failure)
        }
    }

    /// Records the backend's answer to an insert that a client has sent to it past the store. A success with the
    /// item proves the backend, and that the table takes writes although it may give no list.
    public func noteInsert(
        answered response: Response, into table: TableName, as generation: Generation
    ) async {
        let reader = AnswerReader(generation: generation, now: clock.now())
        guard case .row = reader.write(response) else { return }
        do throws(StoreError) {
            guard try await otherBackendReason() == nil else { return }
            try await store.write { try $0.binding.noteTaker(table) }
        } catch {
            log.warning("table not noted", metadata: ["error": "\(error)"])
        }
        takers.insert(table)
        await noteProof(of: knownGeneration ?? generation)
        guard scheduler.isAutomatic else { return }
        scheduler.wish(.push)
        signal.send(nil)
    }

    /// What a person is told of changes that wait although the backend answers, after a minute in which no table
    /// has proven it; nil before that.
    func proofAdvice(_ table: String) -> String? {
        guard let since = unprovenSince,
            clock.uptime() - since >= .seconds(SyncLimits.unprovenSeconds)
        else { return nil }
        return
            "Nothing is sent before a table gives a list, or takes an insert that a client sends while the "
            + "backend answers. If \(table) takes writes and gives no list: --trust-table \(table)."
    }

    /// Records that a table gave a list, and the backend's generation.
    func noteProof(of generation: Generation) async {
        self.generation = generation
        isGenerationKnown = true
        isGenerationRemembered = true
        isProven = true
        await noteProven()
    }

    /// Whether the run pulls a table that the store does not have.
    private func isUnknownHere(_ wish: Scheduler.Wish?) async -> Bool {
        guard case .pull(let request) = wish else { return false }
        let known = (try? await store.read { try $0.tables.all().map(\.name) }) ?? []
        return !known.contains(request.table)
    }

    /// Records that the backend is in reach, which is no proof.
    /// - Parameter failure: why the table that was asked for cannot be used.
    func noteReachable(about failure: Prover.Failure? = nil) async {
        let wasOnline = scheduler.backend.state == .online
        if failure != nil, !isProven { unprovenSince = unprovenSince ?? clock.uptime() }
        let reason = ["The backend answers.", failure?.reason].compactMap(\.self)
        scheduler.reached(
            now: clock.uptime(), wall: clock.now(), reason: reason.joined(separator: " "),
            refused: failure?.request)
        if !wasOnline { await announceStatus() }
    }

    /// Checks whether the backend is in reach, with a table that many backends have. Any answer of a
    /// backend counts, even "no such table" or a refused protocol version, but not a network's sign-in page
    /// or a gateway's error. After a page with status 400 the other generations are tried; an answer to one
    /// of them counts. This is no proof: before anything is sent a list is asked for, and the store is not
    /// bound to the backend.
    private func checkReachability(_ credential: Credential) async -> PushStop? {
        guard let table = TableName("todoitem") else { return nil }
        var first: RemoteAnswer?
        for generation in [generation] + otherGenerations {
            var remote = remote(credential)
            remote.generation = generation
            let answer = await remote.list(table, .any)
            first = first ?? answer
            if answer.isOfBackend {
                await noteReachable()
                return nil
            }
            guard answer.mayNeedOtherGeneration else { break }
        }
        return first.map { .backend(Prover.failure($0, table)) }
    }

    /// The other generations that the backend may have.
    private var otherGenerations: [Generation] {
        guard backend.generation == .auto, !isGenerationKnown else { return [] }
        return Generation.allCases.reversed().filter { $0 != generation }
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
    func proofTables(of failed: TableName, goesLast: Bool) async -> [TableName] {
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

    /// The tables that may be listed now, those last that failed before.
    /// - Returns: also the failure of the others, which named a time.
    func allowed(_ tables: [TableName]) async -> ([TableName], Prover.Failure?) {
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
        let failed = failedInProofs.filter { free.contains($0) }
        return (free.filter { !failed.contains($0) } + failed + failing, forbidden)
    }

    func fail(_ failure: Prover.Failure) {
        isProven = false
        // A server that does not answer as /tables may have another generation by now.
        if failure.state == .notTables { isGenerationKnown = false }
        scheduler.failed(failure, now: clock.uptime(), wall: clock.now(), random: random)
    }

    /// Records a 401.
    func refused(_ credential: Credential) {
        credentialRefused(credential)
        fail(Prover.Failure(state: .signedOut, reason: "The backend asks to sign in."))
    }

    /// Records that the backend gave a list or a verdict: the store is bound to it, and if it was away, every
    /// operation that waits for a time is due.
    func noteProven() async {
        let wasOnline = scheduler.backend.state == .online
        provenAt = clock.uptime()
        unprovenSince = nil
        failedInProofs = []
        scheduler.reached(now: clock.uptime(), wall: clock.now())
        // Taken before the write, so that a failure during the write counts for the next time.
        let isRetryNeeded = scheduler.takeRetryAll()
        let (generation, server) = (generation, meter.server)
        do {
            try await store.write { transaction in
                try transaction.binding.noteProven(generation, server)
                if isRetryNeeded { try transaction.dueOperations.makeAllDue() }
            }
        } catch {
            if isRetryNeeded { scheduler.requestRetryAll() }
            log.warning("backend not noted", metadata: ["error": "\(error)"])
        }
        if !wasOnline { await announceStatus() }
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
