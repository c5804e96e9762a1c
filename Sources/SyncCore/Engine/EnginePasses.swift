import Logging
import TablesProtocol

extension SyncEngine {
    /// The passes of a run: the push first, then the pull of each table. A failed operation or table does not
    /// prevent the pull; a backend out of reach does. A long push makes way for the pulls of tables that have
    /// nothing to send. If another caller requested the same run meanwhile, it may have written before, so the
    /// run pushes once more.
    ///
    /// After a 401 the run starts again if the identity has another token by now.
    func passes(_ running: CurrentRun) async -> (RunState, String?) {
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
    ) async -> (RunState, String?) {
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
            if let failure = await namedWait() {
                fail(failure)
                return (.offline, failure.reason)
            }
            if let stop = try await pushAndPull(running, credential) {
                return await end(stop, credential)
            }
            current?.isEnding = true
            let (waiting, paused) = try await store.read {
                (try $0.dueOperations.waiting(), try $0.dueOperations.paused())
            }
            return end(current?.run ?? running.run, waiting: waiting, paused: paused)
        } catch {
            scheduler.pausePushes(now: clock.uptime())
            return (.failed, error.description)
        }
    }

    /// Pushes and pulls what a run asks for.
    ///
    /// 1. The push runs first, so that a pull gives the backend's rows with what was sent. After a turn
    ///    (``SyncLimits/pushTurnSeconds``) it makes way for the tables that have nothing to send.
    /// 2. Then the rest is pushed, and the other tables are pulled. A run for the pull of one table leaves the
    ///    rest to the next push.
    /// 3. A push or a sync that no person asked for makes way for other runs, too. A sync that did is
    ///    requested again, and goes on with the tables that it has not pulled.
    private func pushAndPull(
        _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        var pulled = running.wish == .sync && !running.isExplicit ? pulledSoFar : []
        pulledSoFar = []
        let free = try await tablesWithoutWork(of: requests(running.wish))
            .filter { !pulled.contains($0) }
        var stop = try await pushPass(running, credential, .after(free: !free.isEmpty))
        if stop == .yielded, !free.isEmpty {
            if let stop = try await pullPasses(free, running, credential) { return stop }
            pulled.formUnion(free)
            if running.wish != .sync { return nil }
            stop = try await pushPass(running, credential, .after(free: false))
        }
        if stop == .yielded {
            if running.wish == .sync {
                pulledSoFar = pulled
                scheduler.wish(.sync)
            }
            return nil
        }
        // A missing table does not prevent the pull of the others.
        if let stop, !stop.isAboutTable || running.wish == .push { return stop }
        if case .backend(let failure) = stop { await noteReachable(about: failure) }
        let rest = try await requests(running.wish).filter { !pulled.contains($0) }
        if let stop = try await pullPasses(rest, running, credential) { return stop }
        while current?.isRequestedAgain == true {
            let stop = try await pushPass(running, credential, .after(free: false))
            if stop == .yielded { return nil }
            if let stop { return stop }
        }
        return nil
    }

    /// When a push makes way for other work.
    private enum Turn {
        /// After a turn: at once if tables without work wait for their pull, else if another run waits that
        /// is not to wait for this one.
        case after(free: Bool)
        /// After a turn, between two pages of a pull.
        case betweenPages
    }

    /// The pulls of tables that have no operation to send now.
    private func tablesWithoutWork(
        of requests: [PullRequest]
    ) async throws(StoreError) -> [PullRequest] {
        guard !requests.isEmpty else { return [] }
        let busy = try await store.read { try $0.dueOperations.tables() }
        return requests.filter { !busy.contains($0.table) }
    }

    /// Whether a push has to make way for another run. One that a person asked for does not.
    private func hasOtherWork(than wish: Scheduler.Wish) -> Bool {
        if case .pull = wish { return false }
        guard current?.isExplicit == false else { return false }
        takeCauses()
        return callersBehind > 0 || scheduler.hasOtherWork(than: wish, now: clock.uptime())
    }

    /// Pushes due operations between two pages of a pull, so that writes do not wait for the end of a long
    /// pull.
    private func pushBetweenPages(_ running: CurrentRun, _ credential: Credential) async {
        guard scheduler.startPush(now: clock.uptime(), outlook: await outlook()) else { return }
        do throws(StoreError) {
            // If the push stops, the next page fails too and reports the reason.
            _ = try await push(running, credential, .betweenPages)
        } catch {
            log.warning("not pushed during a pull", metadata: ["error": "\(error)"])
        }
    }

    private func pushPass(
        _ running: CurrentRun, _ credential: Credential, _ turn: Turn
    ) async throws(StoreError) -> PushStop? {
        current?.isRequestedAgain = false
        if current?.isExplicit == true {
            try await store.write { transaction in
                try DecisionHold(transaction: transaction).end()
                try transaction.dueOperations.makeAllDue()
            }
        }
        return try await push(running, credential, turn)
    }

    private func push(
        _ running: CurrentRun, _ credential: Credential, _ turn: Turn
    ) async throws(StoreError) -> PushStop? {
        let earlier = current?.run.push
        // A pass needs the backend's generation.
        if !isProven, let stop = await prove(credential, for: running.wish) { return stop }
        let pass = pushPass(
            credential, running.cancel, Permits(max(1, settings.parallelism)),
            yields: {
                switch turn {
                case .betweenPages, .after(free: true): true
                case .after(free: false): await self.hasOtherWork(than: running.wish)
                }
            }
        ) { report, progress in await self.note(report.following(earlier), progress) }
        let state = await pass.run(isProven: isProven)
        current?.run.push = state.report.following(earlier)
        isProven = state.isProven
        if state.refusedProtocolVersion { forgetGeneration() }
        if state.report.applied > 0, state.stop == nil || state.stop == .yielded {
            await noteProven()
        }
        return state.stop
    }

    /// Detects the generation again from the beginning: the backend has another one than was found.
    func forgetGeneration() {
        (isProven, isGenerationKnown, isGenerationRemembered) = (false, false, false)
        generation = backend.generation.first
    }

    /// A pass over this engine's store and backend.
    func pushPass(
        _ credential: Credential, _ cancel: CancelFlag, _ slots: Permits,
        yields: (@Sendable () async -> Bool)? = nil,
        progress: @escaping @Sendable (PushReport, RunProgress) async -> Void = { _, _ in }
    ) -> PushPass {
        let remote = remote(credential)
        return PushPass(
            store: store, remote: remote, prover: prover(remote), settings: settings,
            random: random, cancel: cancel, log: log, slots: slots, live: live, owner: owner,
            proofTables: { await self.proofTables(of: $0, goesLast: $1) }, yields: yields,
            progress: progress)
    }

    private func pullPasses(
        _ requests: [PullRequest], _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        var (requiresSignIn, isLagging) = (false, false)
        defer {
            if !requests.isEmpty { scheduler.pulled(isLagging: isLagging, now: clock.uptime()) }
        }
        for request in requests {
            let remote = remote(credential)
            let before = current?.run.pull ?? []
            if let reason = try await pullObstacle(of: request.table) {
                var report = PullReport(table: request.table.text)
                report.error = reason
                current?.run.pull = before + [report]
                continue
            }
            var asked = request
            let part = request.isWhole ? try await store.part(of: request.table) : nil
            asked.part = part?.query
            let pass = PullPass(
                store: store, remote: remote, request: asked, pageRows: settings.pageRows,
                cancel: running.cancel, log: log,
                progress: { report in await self.note(report, after: before) },
                beforePage: { await self.pushBetweenPages(running, credential) })
            let begun = clock.uptime()
            let pull = { @Sendable in part == nil ? await pass.run() : await PartPull(pass).run() }
            var end: PullEnd
            if let period = try await checkPeriod(request, running) {
                var check = ComparePass(pass, every: period, pull: pull) {
                    await !self.hasOtherWork(thanCheckIn: running.wish)
                }
                end = await check.run(pullsFirst: !request.checksCopy)
            } else {
                end = await pull()
            }
            if let failure = end.tableFailure {
                end = try await attribute(failure, of: pass, end)
            }
            current?.run.pull = before + [end.report]
            isLagging = isLagging || end.isLagging
            if let stop = end.stop {
                // Without a token, one table may require a sign-in that the others do not require.
                guard stop == .signIn, credential == .none, running.wish == .sync else {
                    return stop
                }
                requiresSignIn = true
                continue
            }
            if end.tableFailure == nil { store.wanted.remove(request.table) }
            if end.report.error == nil {
                if request.isWhole, !request.checksCopy { pulledAt[request.table] = begun }
                isProven = true
                await noteProven()
            }
        }
        return requiresSignIn && !isProven ? .signIn : nil
    }

    /// The period of a check that is made with a pull: where that is asked for, and where a person asks for a sync and
    /// it is due; else nil.
    private func checkPeriod(
        _ request: PullRequest, _ running: CurrentRun
    ) async throws(StoreError) -> Duration? {
        guard let period = settings.checkCopies else { return nil }
        if request.checksCopy { return period }
        guard current?.isExplicit == true, running.wish == .sync,
            await !hasOtherWork(thanCheckIn: running.wish)
        else { return nil }
        let isDue = try await store.read { transaction in
            try transaction.copyChecks.due(every: period)
                .contains { $0.table == request.table && $0.at <= transaction.now }
        }
        return isDue ? period : nil
    }

    /// Whether a check of a copy has to make way.
    private func hasOtherWork(thanCheckIn wish: Scheduler.Wish) async -> Bool {
        takeCauses()
        scheduler.progressed(now: clock.uptime())
        if callersBehind > 0 || scheduler.hasOtherWork(than: wish, now: clock.uptime()) {
            return true
        }
        return await outlook().hasDue
    }

    /// Why a table is not pulled now: a person has paused it, or a failure puts it off; nil if it may be.
    private func pullObstacle(of table: TableName) async throws(StoreError) -> String? {
        try await store.read { transaction in
            if try transaction.tables.table(table)?.pause.stopsPulls == true {
                return TablePause.reasonOfPull(table)
            }
            let wait = try transaction.tableWaits.wait(.pull, of: table)
            return wait.flatMap { $0.until > transaction.now ? $0.reason : nil }
        }
    }

    /// Finds out whether a failed pull is about its table: another table, or a list of the same one, proves
    /// that the backend otherwise answers. If the table named a time, it is not asked again for the proof.
    private func attribute(
        _ failure: Prover.Failure, of pass: PullPass, _ end: PullEnd
    ) async throws(StoreError) -> PullEnd {
        var (end, failure) = (end, failure)
        let name = pass.request.table
        let tables = await proofTables(of: name, goesLast: true)
            .filter { failure.retryAfter == nil || $0 != name }
        let outcome =
            tables.isEmpty ? .failed(failure) : await prover(pass.remote).prove(tables)
        switch outcome {
        case .proven(let generation):
            await noteProof(of: generation)
            failure.reason = TableWait.reason(name, status: failure.request?.status)
            end.report.error = failure.reason
            try await pass.noteFailure(
                failure.reason, canBeListed: false, failure, random: random)
        case .failed(let found):
            // That another table is missing says nothing.
            var proof = found.isAboutTable ? failure : found
            proof.retryAfter = [failure.retryAfter, proof.retryAfter].compactMap(\.self).max()
            proof.request = failure.request ?? proof.request
            end.stop = proof.state == .signedOut ? .signIn : .backend(proof)
        }
        return end
    }

    private func requests(_ wish: Scheduler.Wish) async throws(StoreError) -> [PullRequest] {
        switch wish {
        case .push: return []
        case .pull(let request): return [request]
        case .sync:
            let known = try await store.read { try $0.tables.all() }
            let names = known.map(\.name)
            let more = settings.tables + store.wanted.all.filter { !settings.tables.contains($0) }
            let pulled = known.filter { !$0.pause.stopsPulls }.map(\.name)
            return (pulled + more.filter { !names.contains($0) }).map { PullRequest(table: $0) }
        }
    }

    private func note(_ report: PushReport, _ progress: RunProgress) {
        current?.run.push = report
        current?.run.progress = progress
        scheduler.progressed(now: clock.uptime())
    }

    private func note(_ report: PullReport, after before: [PullReport]) {
        current?.run.pull = before + [report]
        current?.run.progress = RunProgress(
            phase: .pull, done: report.received,
            total: report.total.map { max($0, report.received) })
        scheduler.progressed(now: clock.uptime())
    }

    // MARK: The end of a run

    /// Passes a stop to the schedule.
    /// - Returns: the run's end state and its reason.
    private func end(
        _ stop: PushStop, _ credential: Credential
    ) async -> (RunState, String?) {
        switch stop {
        case .backend(let failure) where failure.isAboutTable:
            isProven = false
            await noteReachable(about: failure)
            scheduler.pausePushes(now: clock.uptime(), seconds: SyncLimits.tableRestSeconds)
            current?.loggedReason = failure.reason
            return (.completeWithErrors, failure.reason)
        case .backend(let failure):
            fail(failure)
            await keepNamedWait(failure)
            return (.offline, failure.reason)
        // Without a token, one table may require a sign-in that the others do not require.
        case .signIn where credential == .none && isProven:
            return (.signIn, "The backend asks to sign in for this table.")
        case .signIn:
            refused(credential)
            return (.signIn, scheduler.backend.reason)
        case .cancelled: return (.cancelled, nil)
        case .yielded: return (.complete, nil)
        case .store(let reason):
            scheduler.pausePushes(now: clock.uptime())
            return (.failed, reason)
        }
    }

    /// - Parameter waiting: the number of operations that are to be tried again, and why the first waits.
    /// - Parameter paused: the number of operations whose tables a person has paused.
    private func end(
        _ run: Run, waiting: (count: Int, reason: String?, status: Int?), paused: Int
    ) -> (RunState, String?) {
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
        if paused > 0, run.kind != .pull {
            let changes = paused == 1 ? "1 change stays" : "\(paused) changes stay"
            return (.complete, "\(changes) here: a person has paused the table.")
        }
        return (.complete, nil)
    }
}
