import HTTPTypes
import Logging
import TablesProtocol

/// Sends clients' reads to the backend.
struct Forwarding: InEngine {
    let proofs: Proofs
    let runner: Runner

    var context: EngineContext { proofs.context }
    private var backend: KnownBackend { proofs.backend }

    func forward(_ read: ForwardedRead) async -> ForwardedAnswer {
        var change: Int64 = 0
        if read.pairs != nil {
            change = (try? await store.read { try $0.counters.changeCount() }) ?? 0
        }
        let (answer, found) = await exchange(read)
        if let pairs = read.pairs, case .rows(let page)? = found {
            let isWhole = read.isWhole(page, of: backend.generation)
            await note(page, isWhole: isWhole, of: read.table, pairs, asOf: change)
        }
        return answer
    }

    /// Notes which rows a list with a client's own pairs had. Nothing is written where that is known.
    private func note(
        _ page: RemotePage, isWhole: Bool, of name: TableName, _ pairs: OwnPairs,
        asOf change: Int64
    ) async {
        let ids = Set(page.elements.compactMap(\.itemID))
        let texts = Set(ids.map(\.text))
        do throws(StoreError) {
            let isKnown = try await store.read { transaction in
                guard let table = try transaction.tables.table(name) else { return true }
                guard let token = try transaction.tokens.known(pairs, table) else { return false }
                let members = try transaction.tokens.members(of: token)
                return isWhole ? members == texts : texts.isSubset(of: members)
            }
            if isKnown { return }
            try await store.write { transaction in
                guard let table = try transaction.tables.table(name) else { return }
                let request = PullRequest.following(pairs, of: name)
                let token = try transaction.tokens.token(table, of: request)
                try transaction.tokens.follow(page.elements, of: token)
                if isWhole {
                    try transaction.tokens.forgetOthers(
                        than: ids, since: nil, asOf: change, token, of: table)
                }
                try transaction.tokens.noteUse(token, of: table)
            }
        } catch {
            // The client has its answer; only a later list without the backend has fewer rows.
            log.warning("rows of a list not noted", metadata: ["error": "\(error)"])
        }
    }

    func follow(_ pairs: OwnPairs, of table: TableName) async -> Bool {
        let copy = await runner.perform(.pull(PullRequest(table: table)))
        guard copy.state != .offline, copy.state != .signIn else { return false }
        let run = await runner.perform(.pull(.following(pairs, of: table)))
        return run.pull.contains { $0.error == nil }
    }

    func hasFollowed(_ pairs: OwnPairs, of name: TableName) async -> Bool {
        let token = try? await store.read { transaction in
            try transaction.tables.table(name).flatMap {
                try transaction.tokens.known(pairs, $0)
            }
        }
        return token?.isComplete == true
    }

    func fetch(
        _ id: ItemID, of table: TableName, headers: HTTPFields, generation: Generation
    ) async throws(StoreError) -> ForwardedAnswer? {
        let change = try await store.read { try $0.counters.changeCount() }
        let read = ForwardedRead(
            table: table, target: .item(id, includeDeleted: true), headers: headers,
            generation: generation)
        let (answer, found) = await exchange(read)
        guard case .row(let row)? = found, row.id.isLike(id) else { return answer }
        try await store.write { transaction in
            let record = try IDKinds(transaction: transaction).tableForRows(table, [.row(row)])
            _ = try PulledRows(transaction: transaction).take(.row(row), to: record, asOf: change)
            if record.part != nil { try transaction.doubts.add([row.id.text], of: record) }
            if try transaction.items.row(record, id) == nil {
                try transaction.assignedIDs.addAlias(id, of: row.id, record)
            }
        }
        return nil
    }

    /// Sends a client's read to the backend.
    ///
    /// 1. Offline mode, a missing token and a store that belongs to another backend forbid it.
    /// 2. If the backend's generation is not known, the table is listed first, as for a proof.
    /// 3. If the backend answers, but with no list, the read is sent in the client's generation, then in
    ///    the others.
    /// 4. What the answer shows about the connection to the backend is recorded at once.
    /// - Returns: the client's answer, and what the backend's says; nil if it gave none.
    private func exchange(_ read: ForwardedRead) async -> (ForwardedAnswer, RemoteAnswer?) {
        let credential = backend.access.credential()
        var reason = isSwitchedOff ? "Offline mode is on." : nil
        if reason == nil, credential == .missing { reason = SyncEngine.tokenMissing }
        do throws(StoreError) {
            if reason == nil { reason = try await backend.otherBackendReason() }
        } catch {
            reason = error.description
        }
        if let reason { return (.unreachable(reason: reason, retryAfter: nil), nil) }
        if let failure = await proofs.namedWait(of: read.table) { return (failure.answer, nil) }
        // The backend may want a key of the client's own in every request.
        let keys = read.headers.filter { $0.name.canonicalName.contains("key") }
        if backend.knownGeneration == nil
            || !keys.isEmpty && context.scheduler.backend.state == .signedOut
        {
            var failure = await findGeneration(with: read, credential)
            if failure?.state == .signedOut, !keys.isEmpty {
                backend.learnedKeys = HTTPFields(keys)
                failure = await findGeneration(with: read, credential)
            }
            if let failure, failure.state != .signedOut {
                if !Task.isCancelled { await recordFailure(failure, of: read.table) }
                return (failure.answer, nil)
            }
        }
        let now = clock.now()
        guard let (exchange, spoken, sent) = await send(read, credential) else {
            return (.untranslatable, nil)
        }
        guard let answer = sent.answer(exchange, spoken: spoken, now: now) else {
            let failure = Prover.failure(exchange.answer, read.table)
            // A cancelled request says nothing about the backend.
            if !Task.isCancelled { await recordFailure(failure, of: read.table) }
            return (failure.answer, nil)
        }
        await record(answer, exchange.answer, credential)
        return (answer, exchange.answer)
    }

    /// Sends a read. If the backend's generation is not known, the client's own is tried first, then the
    /// others, until an answer cannot be a refusal of the generation
    /// (``RemoteAnswer/mayNeedOtherGeneration``). A list in no order is sent once more without the order of
    /// ids, if the backend may have refused that order. A list whose order the client left open, and after which
    /// more rows follow, is sent again in the order of ids.
    /// - Returns: the answer, the generation in which it was asked for, and the read as it was sent; nil if
    ///   the backend's generation cannot express the read.
    private func send(
        _ wanted: ForwardedRead, _ credential: Credential
    ) async -> (RemoteExchange, Generation, ForwardedRead)? {
        guard let sent = await sendAsIs(wanted, credential) else { return nil }
        guard let ordered = sent.2.ordered(after: sent.0.answer, of: sent.1) else { return sent }
        return await sendAsIs(ordered, credential)
    }

    private func sendAsIs(
        _ wanted: ForwardedRead, _ credential: Credential
    ) async -> (RemoteExchange, Generation, ForwardedRead)? {
        var read = wanted.asking(atMost: backend.takenRows[wanted.table] ?? .max)
        let isKnown = backend.knownGeneration != nil
        let others = Generation.allCases.reversed().filter { $0 != read.generation }
        var first: (RemoteExchange, Generation, ForwardedRead)?
        for generation in backend.knownGeneration.map({ [$0] }) ?? [read.generation] + others {
            var remote = backend.remote(credential)
            remote.generation = generation
            guard var sent = await sendFitting(read, remote, triesSmaller: isKnown) else {
                continue
            }
            // A backend without orders lists in its own.
            if isKnown, read.hasOrderOfIDsAlone, sent.0.answer.mayRefuseOrder {
                read.isInBackendsOrder = true
                guard let plain = await sendFitting(read, remote, triesSmaller: true) else {
                    continue
                }
                sent = plain
            }
            guard sent.0.answer.mayNeedOtherGeneration else {
                return (sent.0, generation, sent.1)
            }
            first = first ?? (sent.0, generation, sent.1)
        }
        return first
    }

    /// Sends a read. If the backend may have refused the number of its rows, it is sent again for fewer, and the
    /// number that was taken is remembered for its table.
    /// - Returns: nil if the backend's generation cannot express the read.
    private func sendFitting(
        _ wanted: ForwardedRead, _ remote: Remote, triesSmaller: Bool
    ) async -> (RemoteExchange, ForwardedRead)? {
        let isList = if case .list = wanted.target { true } else { false }
        guard let request = wanted.request(for: remote.generation) else { return nil }
        let sent = await remote.send(request, asList: isList)
        var (read, answer) = (wanted, sent.answer)
        for _ in 0..<(triesSmaller ? SyncLimits.smallerPages : 0) {
            guard let (smaller, rows) = read.smaller(after: answer),
                let request = smaller.request(for: remote.generation)
            else { break }
            let exchange = await remote.send(request, asList: true)
            if case .rows = exchange.answer {
                if backend.takenRows.count >= SyncLimits.readTables { backend.takenRows = [:] }
                backend.takenRows[read.table] = rows
                return (exchange, smaller)
            }
            (read, answer) = (smaller, exchange.answer)
        }
        return (sent, wanted)
    }

    /// Finds the backend's generation with a list of the table.
    /// - Returns: why the backend cannot be used; nil if it answers, even without a list.
    private func findGeneration(
        with read: ForwardedRead, _ credential: Credential
    ) async -> Prover.Failure? {
        var prover = backend.prover(backend.remote(credential))
        // A refusal proves the backend too, and does not show its generation.
        prover.writers = read.generation
        switch await prover.prove([read.table]) {
        case .proven(let generation):
            await backend.noteProof(of: generation)
            return nil
        case .failed(let failure):
            switch failure.state {
            // A failure of this table only. The client's own request shows it.
            case .degraded where failure.isFault: return nil
            case .offline, .portal, .degraded, .signedOut: return failure
            case .online, .notTables: return nil
            }
        }
    }

    private func record(
        _ answer: ForwardedAnswer, _ remote: RemoteAnswer, _ credential: Credential
    ) async {
        switch answer {
        case .page, .item:
            guard !backend.isProven || context.scheduler.backend.state != .online else { return }
            guard backend.knownGeneration != nil else { return await backend.noteReachable() }
            await backend.noteList()
        case .other, .withoutRow:
            if context.scheduler.backend.state != .online { await backend.noteReachable() }
        case .refused:
            // One table may require a sign-in that others do not. Without a token, a 401 is about this
            // table only, and shows that the backend answers.
            if remote == .unauthorized, case .token = credential {
                await backend.note(.signIn, credential)
                await announceStatus()
            } else if !context.scheduler.backend.state.isConsistent(with: remote) {
                await backend.noteReachable()
            }
        case .unreachable, .untranslatable: break
        }
    }

    /// Records that the backend is out of reach, as soon as one request shows it. A failure that may be the
    /// table's is followed by a proof; if the table named a time, it is not asked before.
    private func recordFailure(_ failure: Prover.Failure, of table: TableName) async {
        if failure.mayBeOfTable {
            if failure.retryAfter != nil {
                await write(or: "wait not stored") { [random] in
                    _ = try $0.tableWaits.note(.pull, of: table, failure, random: random)
                }
            }
            let gap = Duration.seconds(SyncLimits.readGapSeconds)
            let isProvenNow = backend.provenAt.map { clock.uptime() - $0 < gap } ?? false
            if !isProvenNow { signal.send(.unreachable) }
            return
        }
        let before = context.scheduler.backend.state
        await backend.noteFailure(failure)
        if context.scheduler.backend.state != before { await announceStatus() }
        signal.send(nil)
    }
}

extension Prover.Failure {
    /// What a client gets whose read it prevents.
    fileprivate var answer: ForwardedAnswer {
        .unreachable(reason: reason, retryAfter: retryAfter)
    }
}

extension BackendState {
    /// Whether a refusal says nothing new about the backend: it is online, or it still asks for a sign-in.
    fileprivate func isConsistent(with refusal: RemoteAnswer) -> Bool {
        self == .online || self == .signedOut && refusal == .unauthorized
    }
}
