import Logging
import TablesProtocol

extension SyncEngine {
    /// The passes of a run: push first, then the tables that it pulls. A failed operation does not
    /// hold the pull back; a backend out of reach does. A caller that asked for the same meanwhile may have
    /// written before: for it the run pushes once more.
    ///
    /// After a 401 the run begins anew with the identity's next token, where there is one; a token that
    /// came while the run was under way is one.
    func passes(_ running: CurrentRun) async -> (Run.State, String?) {
        while true {
            let credential = credential()
            let end = await passes(running, credential)
            guard end.0 == .signIn, !running.cancel.isSet, hasOther(than: credential) else {
                return end
            }
            current?.run.pull = []
        }
    }

    /// Whether there is another token to speak with than one that the backend refuses.
    func hasOther(than refused: Credential) -> Bool {
        let credential = credential()
        return credential != refused && credential != .missing
    }

    private func passes(
        _ running: CurrentRun, _ credential: Credential
    ) async -> (Run.State, String?) {
        if case .offline = scheduler.mode {
            return (.offline, "Offline mode is on.")
        }
        if credential == .missing {
            fail(Prover.Failure(state: .signedOut, reason: Self.tokenMissing))
            return (.signIn, scheduler.backend.reason)
        }
        await detectClockJump()
        do throws(StoreError) {
            if let reason = try await strangeBackend() { return (.offline, reason) }
            // A table that is not there keeps no other from being pulled.
            if let stop = try await pushPass(running, credential) {
                guard stop.isAboutTable, running.wish != .push else { return end(stop, credential) }
            }
            if let stop = try await pullPasses(running, credential) { return end(stop, credential) }
            while current?.isAskedAgain == true {
                if let stop = try await pushPass(running, credential) {
                    return end(stop, credential)
                }
            }
            current?.isEnding = true
            let waiting = try await store.read { try $0.dueOperations.waiting() }
            return end(
                current?.run ?? running.run,
                waiting: store.has(.askedSyncLeavesWaiting) ? (0, nil) : waiting)
        } catch {
            scheduler.rest(now: clock.uptime())
            return (.failed, error.description)
        }
    }

    /// Why nothing may be sent to this backend, when the store holds another's work.
    func strangeBackend() async throws(StoreError) -> String? {
        if binding == nil {
            let address = backend.address
            let (binding, known) = try await store.write { transaction in
                (
                    try transaction.binding.bind(to: address),
                    try transaction.binding.provenGeneration()
                )
            }
            self.binding = binding
            // Where the search begins: a backend may have become another one.
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

    /// Pushes what is due before the next page of a pull is asked for: the first pull of a large table
    /// takes its time, and a write made meanwhile does not wait for its end.
    private func pushBetweenPages(_ running: CurrentRun, _ credential: Credential) async {
        guard scheduler.takesPush(now: clock.uptime(), outlook: await outlook()) else { return }
        do throws(StoreError) {
            // What stops the push stops the next page as well, which says so.
            _ = try await pushed(running, credential)
        } catch {
            log.warning("not pushed during a pull", metadata: ["error": "\(error)"])
        }
    }

    private func pushPass(
        _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        current?.isAskedAgain = false
        let leavesWaiting = store.has(.askedSyncLeavesWaiting)
        if current?.isAsked == true, !leavesWaiting {
            try await store.write { try $0.dueOperations.makeAllDue() }
        }
        return try await pushed(running, credential)
    }

    private func pushed(
        _ running: CurrentRun, _ credential: Credential
    ) async throws(StoreError) -> PushStop? {
        let earlier = current?.run.push
        // The generation must be known before a pass can speak it.
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
        if state.refusedDialect {
            // It speaks another generation than was found out: it is asked anew, without a bias.
            (isProven, isGenerationKnown, isGenerationRemembered) = (false, false, false)
            generation = backend.generation.first
        }
        if state.report.applied > 0, state.stop == nil { await reached() }
        return state.stop
    }

    /// Asks for a list of the tables that this store works with; without any there is nothing to
    /// send either, and nothing to prove but that the backend is in reach.
    func prove(_ credential: Credential, for wish: Scheduler.Wish? = nil) async -> PushStop? {
        let tables = await provingTables(wish)
        guard !tables.isEmpty else { return await knock(credential) }
        switch await prover(remote(credential)).prove(tables) {
        case .proven(let generation):
            await noteProof(of: generation)
            return nil
        case .failed(let failure):
            // The pull reports this for its own table; other tables are not affected.
            if failure.isAboutTable, await isUnknownHere(wish) {
                await answered("The backend answers. \(failure.reason)")
                return nil
            }
            return failure.state == .signedOut ? .signIn : .backend(failure)
        }
    }

    /// Notes that a table gave a list.
    func noteProof(of generation: Generation) async {
        self.generation = generation
        isGenerationKnown = true
        isGenerationRemembered = true
        isProven = true
        await reached()
    }

    /// Whether a pull is wanted of a table of which the store has nothing.
    private func isUnknownHere(_ wish: Scheduler.Wish?) async -> Bool {
        guard case .pull(let request) = wish else { return false }
        let known = (try? await store.read { try $0.tables.all().map(\.name) }) ?? []
        return !known.contains(request.table)
    }

    /// Notes that the backend is in reach, which proves nothing.
    func answered(_ reason: String = "The backend answers.") async {
        let wasOnline = scheduler.backend.state == .online
        scheduler.reached(now: clock.uptime(), wall: clock.now(), reason: reason)
        if !wasOnline { await announceStatus() }
    }

    /// Asks for a table that many backends have, to be able to say whether the backend is in reach.
    /// Any answer will do, also that there is no such table or that the dialect is refused, but none
    /// that a network's sign-in page or a gateway gives: a page that refuses one generation's dialect
    /// is believed when the backend answers another's. It proves nothing: before anything is sent a
    /// list is asked for, and the store is bound to no backend by it.
    private func knock(_ credential: Credential) async -> PushStop? {
        guard let table = TableName("todoitem") else { return nil }
        var first: RemoteAnswer?
        for generation in [generation] + otherGenerations {
            var remote = remote(credential)
            remote.generation = generation
            let answer = await remote.list(table, .any)
            first = first ?? answer
            if answer.isOfBackend {
                await answered()
                return nil
            }
            guard answer.refusesDialect else { break }
        }
        return first.map { .backend(Prover.failure($0, table)) }
    }

    /// The generations that the backend may be besides the one it is taken for.
    private var otherGenerations: [Generation] {
        guard backend.generation == .auto, !isGenerationKnown else { return [] }
        return Generation.allCases.reversed().filter { $0 != generation }
    }

    /// Tables to prove the backend with, the surest first: pulled ones, then the one that is wanted,
    /// then those with work.
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
        var wantsSignIn = false
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
                // Without a token a table may want a sign-in that the others do not want.
                guard stop == .signIn, credential == .none, running.wish == .sync else {
                    return stop
                }
                wantsSignIn = true
                continue
            }
            store.wanted.remove(request.table)
            if end.report.error == nil {
                isProven = true
                await reached()
            }
        }
        return wantsSignIn && !isProven ? .signIn : nil
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

    // MARK: What a run means for the schedule

    /// Notes a stop and says how the run ended.
    private func end(_ stop: PushStop, _ credential: Credential) -> (Run.State, String?) {
        switch stop {
        case .backend(let failure) where failure.isAboutTable:
            let reason = "The backend answers. \(failure.reason)"
            isProven = false
            scheduler.reached(now: clock.uptime(), wall: clock.now(), reason: reason)
            scheduler.rest(now: clock.uptime(), seconds: SyncLimits.tableRestSeconds)
            return (.completeWithErrors, failure.reason)
        case .backend(let failure):
            fail(failure)
            return (.offline, failure.reason)
        // Without a token a table may want a sign-in that the others do not want.
        case .signIn where credential == .none && isProven:
            return (.signIn, "The backend asks to sign in for this table.")
        case .signIn:
            refused(credential)
            return (.signIn, scheduler.backend.reason)
        case .cancelled: return (.cancelled, nil)
        case .store(let reason):
            scheduler.rest(now: clock.uptime())
            return (.failed, reason)
        }
    }

    /// - Parameter waiting: operations that were due or tried and are still to be tried, and why the
    ///   first of them waits.
    private func end(_ run: Run, waiting: (count: Int, reason: String?)) -> (Run.State, String?) {
        let refused = (run.push?.conflicts ?? 0) + (run.push?.quarantined ?? 0)
        if let error = run.pull.compactMap(\.error).first { return (.completeWithErrors, error) }
        if refused > 0 {
            let changes = refused == 1 ? "1 change needs" : "\(refused) changes need"
            return (.completeWithErrors, "\(changes) a decision.")
        }
        if waiting.count > 0 {
            let changes = waiting.count == 1 ? "1 change waits" : "\(waiting.count) changes wait"
            let reason = waiting.reason.map { " " + $0 } ?? ""
            return (.completeWithErrors, "\(changes) to be tried again.\(reason)")
        }
        return (.complete, nil)
    }

    func fail(_ failure: Prover.Failure) {
        isProven = false
        // What does not answer as /tables may speak another generation by now.
        if failure.state == .notTables { isGenerationKnown = false }
        scheduler.failed(failure, now: clock.uptime(), wall: clock.now(), random: random)
    }

    /// Notes a 401.
    func refused(_ credential: Credential) {
        credentialRefused(credential)
        fail(Prover.Failure(state: .signedOut, reason: "The backend asks to sign in."))
    }

    /// Notes that the backend answered: what waited for it is due, and the store is bound to it.
    func reached() async {
        let wasOnline = scheduler.backend.state == .online
        scheduler.reached(now: clock.uptime(), wall: clock.now())
        // Taken before the write: what is held up while it runs is for the next time.
        let isHeldUp = scheduler.takeHeldUp()
        let generation = generation
        do {
            try await store.write { transaction in
                try transaction.binding.noteProven(generation)
                if isHeldUp { try transaction.dueOperations.makeAllDue() }
            }
        } catch {
            if isHeldUp { scheduler.holdUp() }
            log.warning("backend not noted", metadata: ["error": "\(error)"])
        }
        if !wasOnline { await announceStatus() }
    }
}

extension RemoteAnswer {
    /// Whether only a server of the kind can have answered so, and nothing on the way to it.
    fileprivate var isOfBackend: Bool {
        switch self {
        case .rows, .row, .empty, .missing, .rejected, .conflict, .unauthorized,
            // A page, as some servers say that there is no such table.
            .unusable(status: 404, .html),
            .unusable(status: 400, .notJSON), .unusable(status: 400, .unexpectedShape),
            .unusable(status: 400, .otherVersion):
            true
        case .failed, .unavailable, .unusable, .unreachable: false
        }
    }
}
