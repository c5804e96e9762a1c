import Logging
import TablesProtocol

/// The passes of one run with one credential: the push first, then the pull of each table.
///
/// A failed operation or table does not prevent the pull; a backend out of reach does. A long push makes way for
/// the pulls of tables that have nothing to send. If another caller requested the same run meanwhile, it may have
/// written before, so the run pushes once more.
struct RunPasses: InEngine {
    let context: EngineContext
    let engine: SyncEngine
    let runner: Runner
    let proofs: Proofs
    let open: OpenRun
    let credential: Credential

    private var backend: KnownBackend { proofs.backend }
    private var wish: Scheduler.Wish { open.wish }

    /// Performs them.
    /// - Returns: the run's end state and its reason.
    func run() async -> (RunState, String?) {
        if isSwitchedOff { return (.offline, SyncEngine.offlineModeIsOn) }
        if credential == .missing {
            backend.fail(Prover.Failure(state: .signedOut, reason: SyncEngine.tokenMissing))
            return (.signIn, context.scheduler.backend.reason)
        }
        await runner.clockWatch.detectJump()
        do throws(StoreError) {
            if let reason = try await backend.otherBackendReason() { return (.offline, reason) }
            if let failure = backend.namedWait() {
                backend.fail(failure)
                return (.offline, failure.reason)
            }
            if let stop = try await pushAndPull() { return await end(stop) }
            open.isEnding = true
            let (waiting, paused) = try await store.read {
                (try $0.dueOperations.waiting(), try $0.dueOperations.paused())
            }
            return end(waiting: waiting, paused: paused)
        } catch {
            context.scheduler.pausePushes(now: clock.uptime())
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
    private func pushAndPull() async throws(StoreError) -> PushStop? {
        var pulled = wish == .sync && !open.isExplicit ? runner.pulledSoFar : []
        runner.pulledSoFar = []
        let free = try await tablesWithoutWork(of: requests()).filter { !pulled.contains($0) }
        var stop = try await pushPass(.after(free: !free.isEmpty))
        if stop == .yielded, !free.isEmpty {
            if let stop = try await pullPasses(free) { return stop }
            pulled.formUnion(free)
            if wish != .sync { return nil }
            stop = try await pushPass(.after(free: false))
        }
        if stop == .yielded {
            if wish == .sync {
                runner.pulledSoFar = pulled
                context.scheduler.wish(.sync)
            }
            return nil
        }
        // A missing table does not prevent the pull of the others.
        if let stop, !stop.isAboutTable || wish == .push { return stop }
        if case .backend(let failure) = stop { await backend.noteReachable(about: failure) }
        let rest = try await requests().filter { !pulled.contains($0) }
        if let stop = try await pullPasses(rest) { return stop }
        while open.isRequestedAgain {
            let stop = try await pushPass(.after(free: false))
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

    /// Pushes due operations between two pages of a pull, so that writes do not wait for the end of a long
    /// pull.
    func pushBetweenPages() async {
        let outlook = await runner.outlook()
        guard context.scheduler.startPush(now: clock.uptime(), outlook: outlook) else { return }
        do throws(StoreError) {
            // If the push stops, the next page fails too and reports the reason.
            _ = try await push(.betweenPages)
        } catch {
            log.warning("not pushed during a pull", metadata: ["error": "\(error)"])
        }
    }

    private func pushPass(_ turn: Turn) async throws(StoreError) -> PushStop? {
        open.isRequestedAgain = false
        if open.isExplicit {
            try await store.write { transaction in
                try DecisionHold(transaction: transaction).end()
                try transaction.dueOperations.makeAllDue()
            }
        }
        return try await push(turn)
    }

    private func push(_ turn: Turn) async throws(StoreError) -> PushStop? {
        let earlier = open.run.push
        // A pass needs the backend's generation.
        if !backend.isProven, let stop = await proofs.prove(credential, for: wish) { return stop }
        let pass = backend.pushPass(
            of: engine, credential, open.cancel, Permits(max(1, settings.parallelism)),
            yields: { [engine] in
                switch turn {
                case .betweenPages, .after(free: true): true
                case .after(free: false): await engine.with { $0.runner.pushMakesWay() }
                }
            }
        ) { [engine] report, progress in
            let report = report.following(earlier)
            await engine.with { $0.runner.note(progress) { $0.push = report } }
        }
        let state = await pass.run(isProven: backend.isProven)
        open.run.push = state.report.following(earlier)
        backend.isProven = state.isProven
        if state.refusedProtocolVersion { backend.forgetGeneration() }
        if state.report.applied > 0, state.stop == nil || state.stop == .yielded {
            await backend.noteProven()
        }
        return state.stop
    }

    private func pullPasses(_ requests: [PullRequest]) async throws(StoreError) -> PushStop? {
        var (requiresSignIn, isLagging) = (false, false)
        defer {
            if !requests.isEmpty {
                context.scheduler.pulled(isLagging: isLagging, now: clock.uptime())
            }
        }
        for request in requests {
            let remote = backend.remote(credential)
            let before = open.run.pull
            if let reason = try await pullObstacle(of: request.table) {
                var report = PullReport(table: request.table.text)
                report.error = reason
                open.run.pull = before + [report]
                continue
            }
            var asked = request
            let part = request.isWhole ? try await store.part(of: request.table) : nil
            asked.part = part?.query
            let pass = PullPass(
                store: store, remote: remote, request: asked, pageRows: settings.pageRows,
                cancel: open.cancel, log: log,
                progress: { [engine] report in
                    let progress = RunProgress(
                        phase: .pull, done: report.received,
                        total: report.total.map { max($0, report.received) })
                    await engine.with { $0.runner.note(progress) { $0.pull = before + [report] } }
                },
                beforePage: { [engine, credential] in
                    await engine.with { await $0.runner.passes(credential)?.pushBetweenPages() }
                })
            let begun = clock.uptime()
            let pull = { @Sendable in part == nil ? await pass.run() : await PartPull(pass).run() }
            var end: PullEnd
            if let period = try await checkPeriod(request) {
                var check = ComparePass(pass, every: period, pull: pull) { [engine, credential] in
                    await engine.with {
                        await $0.runner.passes(credential)?.checkMakesWay() == false
                    }
                }
                end = await check.run(pullsFirst: !request.checksCopy)
            } else {
                end = await pull()
            }
            if let failure = end.tableFailure {
                end = try await attribute(failure, of: pass, end)
            }
            open.run.pull = before + [end.report]
            isLagging = isLagging || end.isLagging
            if let stop = end.stop {
                // Without a token, one table may require a sign-in that the others do not require.
                guard stop == .signIn, credential == .none, wish == .sync else {
                    return stop
                }
                requiresSignIn = true
                continue
            }
            if end.tableFailure == nil { store.wanted.remove(request.table) }
            if end.report.error == nil {
                if request.isWhole, !request.checksCopy { runner.pulledAt[request.table] = begun }
                await backend.noteList()
            }
        }
        return requiresSignIn && !backend.isProven ? .signIn : nil
    }

    /// The period of a check that is made with a pull: where that is asked for, and where a person asks for a sync and
    /// it is due; else nil.
    private func checkPeriod(_ request: PullRequest) async throws(StoreError) -> Duration? {
        guard let period = settings.checkCopies else { return nil }
        if request.checksCopy { return period }
        guard open.isExplicit, wish == .sync, await !checkMakesWay() else { return nil }
        let isDue = try await store.read { transaction in
            try transaction.copyChecks.due(every: period)
                .contains { $0.table == request.table && $0.at <= transaction.now }
        }
        return isDue ? period : nil
    }

    /// Whether a check of a copy has to make way.
    func checkMakesWay() async -> Bool {
        progressed()
        if runner.hasOtherWork(than: wish) { return true }
        return await runner.outlook().hasDue
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
        let tables = await proofs.tables(afterFailureOf: name, true)
            .filter { failure.retryAfter == nil || $0 != name }
        let outcome =
            tables.isEmpty ? .failed(failure) : await backend.prover(pass.remote).prove(tables)
        switch outcome {
        case .proven(let generation):
            await backend.noteProof(of: generation)
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

    private func requests() async throws(StoreError) -> [PullRequest] {
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

    // MARK: The end of a run

    /// Passes a stop to the schedule.
    /// - Returns: the run's end state and its reason.
    private func end(_ stop: PushStop) async -> (RunState, String?) {
        switch stop {
        case .backend(let failure) where failure.isAboutTable:
            backend.isProven = false
            await backend.noteReachable(about: failure)
            context.scheduler.pausePushes(
                now: clock.uptime(), seconds: SyncLimits.tableRestSeconds)
            return endWithErrors(failure.reason)
        case .backend(let failure):
            await backend.noteFailure(failure)
            return (.offline, failure.reason)
        // Without a token, one table may require a sign-in that the others do not require.
        case .signIn where credential == .none && backend.isProven:
            return (.signIn, "The backend asks to sign in for this table.")
        case .signIn:
            backend.refused(credential)
            return (.signIn, context.scheduler.backend.reason)
        case .cancelled: return (.cancelled, nil)
        case .yielded: return (.complete, nil)
        case .store(let reason):
            context.scheduler.pausePushes(now: clock.uptime())
            return (.failed, reason)
        }
    }

    /// - Parameters:
    ///   - waiting: the number of operations that are to be tried again, and why the first waits.
    ///   - paused: the number of operations whose tables a person has paused.
    private func end(
        waiting: (count: Int, reason: String?, status: Int?), paused: Int
    ) -> (RunState, String?) {
        let run = open.run
        let refused = (run.push?.conflicts ?? 0) + (run.push?.quarantined ?? 0)
        if let error = run.pull.compactMap(\.error).first { return endWithErrors(error) }
        if refused > 0 {
            return endWithErrors(
                "\(refused == 1 ? "1 change needs" : "\(refused) changes need") a decision.")
        }
        if waiting.count > 0 {
            let changes = waiting.count == 1 ? "1 change waits" : "\(waiting.count) changes wait"
            // The reason of an operation may be the backend's text, which the log does not repeat.
            let answer = waiting.status.map { "the backend answered \($0)" } ?? "no answer came"
            let reason = waiting.reason.map { " " + $0 } ?? ""
            return endWithErrors(
                "\(changes) to be tried again.\(reason)",
                logged: "\(changes) to be tried again: \(answer).")
        }
        if paused > 0, run.kind != .pull {
            let changes = paused == 1 ? "1 change stays" : "\(paused) changes stay"
            return (.complete, "\(changes) here: a person has paused the table.")
        }
        return (.complete, nil)
    }

    private func endWithErrors(
        _ reason: String, logged: String? = nil
    ) -> (RunState, String?) {
        open.loggedReason = logged ?? reason
        return (.completeWithErrors, reason)
    }
}
