import Logging
import TablesProtocol

extension SyncEngine {
    /// The passes of a run: the push first, then the pull of each table. A failed operation or table does not
    /// prevent the pull; a backend out of reach does. A long push makes way for the pulls of tables that have
    /// nothing to send. If another caller requested the same run meanwhile, it may have written before, so the
    /// run pushes once more.
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
            if let failure = await namedWait() {
                fail(failure)
                return (.offline, failure.reason)
            }
            if let stop = try await pushAndPull(running, credential) {
                return await end(stop, credential)
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
            let (binding, known, notBefore) = try await store.write { transaction in
                (
                    try transaction.binding.bind(to: address),
                    try transaction.binding.provenGeneration(),
                    try transaction.binding.notBefore()
                )
            }
            self.binding = binding
            backendNotBefore = store.has(.tableWaitIgnored) ? nil : notBefore
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
            _ = try await push(running, credential, .betweenPages)
        } catch {
            log.warning("not pushed during a pull", metadata: ["error": "\(error)"])
        }
    }

    private func pushPass(
        _ running: CurrentRun, _ credential: Credential, _ turn: Turn
    ) async throws(StoreError) -> PushStop? {
        current?.isRequestedAgain = false
        let leavesWaiting = store.has(.explicitSyncLeavesWaiting)
        if current?.isExplicit == true, !leavesWaiting {
            try await store.write { try $0.dueOperations.makeAllDue() }
        }
        return try await push(running, credential, turn)
    }

    private func push(
        _ running: CurrentRun, _ credential: Credential, _ turn: Turn
    ) async throws(StoreError) -> PushStop? {
        let earlier = current?.run.push
        // A pass needs the backend's generation.
        if !isProven, let stop = await prove(credential, for: running.wish) { return stop }
        let remote = remote(credential)
        let pass = PushPass(
            store: store, remote: remote, prover: prover(remote), settings: settings,
            random: random, cancel: running.cancel, log: log,
            slots: Permits(max(1, settings.parallelism)),
            proofTables: { await self.proofTables(of: $0, goesLast: $1) },
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
        if state.refusedProtocolVersion {
            // The backend has another generation than was found: detect it again from the beginning.
            (isProven, isGenerationKnown, isGenerationRemembered) = (false, false, false)
            generation = backend.generation.first
        }
        if state.report.applied > 0, state.stop == nil || state.stop == .yielded {
            await noteProven()
        }
        return state.stop
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
        switch await prover(remote).prove(tables) {
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
    private func proofTables(of failed: TableName, goesLast: Bool) async -> [TableName] {
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

    private func pullPasses(
        _ requests: [PullRequest], _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        var requiresSignIn = false
        for request in requests {
            let remote = remote(credential)
            let before = current?.run.pull ?? []
            if let wait = try await pullWait(of: request.table) {
                var report = PullReport(table: request.table.text)
                report.error = wait.reason
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
            var end = part == nil ? await pass.run() : await PartPull(pass).run()
            if let failure = end.tableFailure {
                end = try await attribute(failure, of: pass, end)
            }
            current?.run.pull = before + [end.report]
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
                isProven = true
                await noteProven()
            }
        }
        return requiresSignIn && !isProven ? .signIn : nil
    }

    /// The wait that puts a table's pull off now; nil if it may be pulled.
    private func pullWait(of table: TableName) async throws(StoreError) -> TableWait? {
        let wait = try await store.read { try $0.tableWaits.wait(.pull, of: table) }
        return wait.flatMap { $0.until > clock.now() ? $0 : nil }
    }

    /// Finds out whether a failed pull is about its table: another table, or a list of the same one, proves
    /// that the backend otherwise answers. If the table named a time, it is not asked again for the proof.
    private func attribute(
        _ failure: Prover.Failure, of pass: PullPass, _ end: PullPass.End
    ) async throws(StoreError) -> PullPass.End {
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
            if store.has(.tableWaitIgnored) { failure.retryAfter = nil }
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
    private func end(
        _ stop: PushStop, _ credential: Credential
    ) async -> (Run.State, String?) {
        switch stop {
        case .backend(let failure) where failure.isAboutTable:
            let reason = "The backend answers. \(failure.reason)"
            isProven = false
            scheduler.reached(
                now: clock.uptime(), wall: clock.now(), reason: reason, refused: failure.request)
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
        provenAt = clock.uptime()
        failedInProofs = []
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
