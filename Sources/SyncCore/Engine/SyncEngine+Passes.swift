import Logging
import TablesProtocol

extension SyncEngine {
    /// The passes of a run: the push first, then the pull of each table. A failed operation does not
    /// prevent the pull; a backend out of reach does. If another caller requested the same run meanwhile,
    /// it may have written before, so the run pushes once more.
    ///
    /// After a 401 the run starts again if the identity has another token by now.
    func passes(_ running: CurrentRun) async -> (Run.State, String?) {
        while true {
            let credential = credential()
            let end = await passes(running, credential)
            guard end.0 == .signIn, !running.cancel.isSet, hasOtherToken(than: credential) else {
                return end
            }
            current?.run.pull = []
        }
    }

    /// Whether there is another token than the one that the backend refused.
    func hasOtherToken(than refused: Credential) -> Bool {
        let credential = credential()
        return credential != refused && credential != .missing
    }

    private func passes(
        _ running: CurrentRun, _ credential: Credential
    ) async -> (Run.State, String?) {
        if case .offline = scheduler.mode {
            return (.offline, Self.offlineModeIsOn)
        }
        if credential == .missing {
            fail(Prover.Failure(state: .signedOut, reason: Self.tokenMissing))
            return (.signIn, scheduler.backend.reason)
        }
        await detectClockJump()
        do throws(StoreError) {
            if let reason = try await otherBackendReason() { return (.offline, reason) }
            // A missing table does not prevent the pull of the others.
            if let stop = try await pushPass(running, credential) {
                guard stop.isAboutTable, running.wish != .push else { return end(stop, credential) }
            }
            if let stop = try await pullPasses(running, credential) { return end(stop, credential) }
            while current?.isRequestedAgain == true {
                if let stop = try await pushPass(running, credential) {
                    return end(stop, credential)
                }
            }
            current?.isEnding = true
            let waiting = try await store.read { try $0.dueOperations.waiting() }
            return end(
                current?.run ?? running.run,
                waiting: store.has(.explicitSyncLeavesWaiting) ? (0, nil, nil) : waiting)
        } catch {
            scheduler.pausePushes(now: clock.uptime())
            return (.failed, error.description)
        }
    }

    /// Why nothing may be sent to the backend: the store belongs to another one. Nil if it does not.
    func otherBackendReason() async throws(StoreError) -> String? {
        if binding == nil {
            let address = backend.address
            let (binding, known) = try await store.write { transaction in
                (
                    try transaction.binding.bind(to: address),
                    try transaction.binding.provenGeneration()
                )
            }
            self.binding = binding
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
            meter: meter)
    }

    func prover(_ remote: Remote) -> Prover {
        Prover(
            remote: remote, isGenerationOpen: backend.generation == .auto && !isGenerationKnown,
            isRemembered: isGenerationRemembered && !store.has(.strayListRebinds))
    }

    /// Pushes due operations between two pages of a pull, so that writes do not wait for the end of a long
    /// pull.
    private func pushBetweenPages(_ running: CurrentRun, _ credential: Credential) async {
        guard scheduler.startPush(now: clock.uptime(), outlook: await outlook()) else { return }
        do throws(StoreError) {
            // If the push stops, the next page fails too and reports the reason.
            _ = try await push(running, credential)
        } catch {
            log.warning("not pushed during a pull", metadata: ["error": "\(error)"])
        }
    }

    private func pushPass(
        _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        current?.isRequestedAgain = false
        let leavesWaiting = store.has(.explicitSyncLeavesWaiting)
        if current?.isExplicit == true, !leavesWaiting {
            try await store.write { try $0.dueOperations.makeAllDue() }
        }
        return try await push(running, credential)
    }

    private func push(
        _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        let earlier = current?.run.push
        // A pass needs the backend's generation.
        if !isProven, let stop = await prove(credential, for: running.wish) { return stop }
        let remote = remote(credential)
        let pass = PushPass(
            store: store, remote: remote, prover: prover(remote), settings: settings,
            random: random, cancel: running.cancel, log: log,
            slots: RequestSlots(count: settings.parallelism)
        ) { report, progress in await self.note(report.following(earlier), progress) }
        let state = await pass.run(isProven: isProven)
        current?.run.push = state.report.following(earlier)
        isProven = state.isProven
        if state.refusedProtocolVersion {
            // The backend has another generation than was found: detect it again from the beginning.
            (isProven, isGenerationKnown, isGenerationRemembered) = (false, false, false)
            generation = backend.generation.first
        }
        if state.report.applied > 0, state.stop == nil { await noteProven() }
        return state.stop
    }

    /// Proves the backend with the tables that this store knows or is to pull. Without any table there is
    /// nothing to send, so it is only checked whether the backend is in reach.
    func prove(_ credential: Credential, for wish: Scheduler.Wish? = nil) async -> PushStop? {
        let tables = await provingTables(wish)
        guard !tables.isEmpty else { return await checkReachability(credential) }
        switch await prover(remote(credential)).prove(tables) {
        case .proven(let generation):
            await noteProof(of: generation)
            return nil
        case .failed(let failure):
            // The pull reports this for its own table. Other tables are not affected.
            if failure.isAboutTable, await isUnknownHere(wish) {
                await noteReachable("The backend answers. \(failure.reason)")
                return nil
            }
            return failure.state == .signedOut ? .signIn : .backend(failure)
        }
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
    func noteReachable(_ reason: String = "The backend answers.") async {
        let wasOnline = scheduler.backend.state == .online
        scheduler.reached(now: clock.uptime(), wall: clock.now(), reason: reason)
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

    private func pullPasses(
        _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        var requiresSignIn = false
        for request in try await requests(running.wish) {
            let remote = remote(credential)
            let before = current?.run.pull ?? []
            let pass = PullPass(
                store: store, remote: remote, request: request, pageRows: settings.pageRows,
                cancel: running.cancel, log: log,
                progress: { report in await self.note(report, after: before) },
                beforePage: { await self.pushBetweenPages(running, credential) })
            let end = await pass.run()
            current?.run.pull = before + [end.report]
            if let stop = end.stop {
                // Without a token, one table may require a sign-in that the others do not require.
                guard stop == .signIn, credential == .none, running.wish == .sync else {
                    return stop
                }
                requiresSignIn = true
                continue
            }
            store.wanted.remove(request.table)
            if end.report.error == nil {
                isProven = true
                await noteProven()
            }
        }
        return requiresSignIn && !isProven ? .signIn : nil
    }

    private func requests(_ wish: Scheduler.Wish) async throws(StoreError) -> [PullRequest] {
        switch wish {
        case .push: return []
        case .pull(let request): return [request]
        case .sync:
            let known = try await store.read { try $0.tables.all().map(\.name) }
            let more = settings.tables + store.wanted.all.filter { !settings.tables.contains($0) }
            return (known + more.filter { !known.contains($0) }).map { PullRequest(table: $0) }
        }
    }

    private func note(_ report: PushReport, _ progress: Run.Progress) {
        current?.run.push = report
        current?.run.progress = progress
        scheduler.progressed(now: clock.uptime())
    }

    private func note(_ report: PullReport, after before: [PullReport]) {
        current?.run.pull = before + [report]
        current?.run.progress = Run.Progress(
            phase: .pull, done: report.received,
            total: report.total.map { max($0, report.received) })
        scheduler.progressed(now: clock.uptime())
    }

    // MARK: The end of a run

    /// Passes a stop to the schedule.
    /// - Returns: the run's end state and its reason.
    private func end(_ stop: PushStop, _ credential: Credential) -> (Run.State, String?) {
        switch stop {
        case .backend(let failure) where failure.isAboutTable:
            let reason = "The backend answers. \(failure.reason)"
            isProven = false
            scheduler.reached(now: clock.uptime(), wall: clock.now(), reason: reason)
            scheduler.pausePushes(now: clock.uptime(), seconds: SyncLimits.tableRestSeconds)
            current?.loggedReason = failure.reason
            return (.completeWithErrors, failure.reason)
        case .backend(let failure):
            fail(failure)
            return (.offline, failure.reason)
        // Without a token, one table may require a sign-in that the others do not require.
        case .signIn where credential == .none && isProven:
            return (.signIn, "The backend asks to sign in for this table.")
        case .signIn:
            refused(credential)
            return (.signIn, scheduler.backend.reason)
        case .cancelled: return (.cancelled, nil)
        case .store(let reason):
            scheduler.pausePushes(now: clock.uptime())
            return (.failed, reason)
        }
    }

    /// - Parameter waiting: the number of operations that are to be tried again, and why the first waits.
    private func end(
        _ run: Run, waiting: (count: Int, reason: String?, status: Int?)
    ) -> (Run.State, String?) {
        let refused = (run.push?.conflicts ?? 0) + (run.push?.quarantined ?? 0)
        if let error = run.pull.compactMap(\.error).first {
            current?.loggedReason = error
            return (.completeWithErrors, error)
        }
        if refused > 0 {
            let changes = refused == 1 ? "1 change needs" : "\(refused) changes need"
            let reason = "\(changes) a decision."
            current?.loggedReason = reason
            return (.completeWithErrors, reason)
        }
        if waiting.count > 0 {
            let changes = waiting.count == 1 ? "1 change waits" : "\(waiting.count) changes wait"
            // The reason of an operation may be the backend's text, which the log does not repeat.
            let answer = waiting.status.map { "the backend answered \($0)" } ?? "no answer came"
            current?.loggedReason = "\(changes) to be tried again: \(answer)."
            let reason = waiting.reason.map { " " + $0 } ?? ""
            return (.completeWithErrors, "\(changes) to be tried again.\(reason)")
        }
        return (.complete, nil)
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
        scheduler.reached(now: clock.uptime(), wall: clock.now())
        // Taken before the write, so that a failure during the write counts for the next time.
        let isRetryNeeded = scheduler.takeRetryAll()
        let generation = generation
        do {
            try await store.write { transaction in
                try transaction.binding.noteProven(generation)
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
