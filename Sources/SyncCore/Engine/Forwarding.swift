public import HTTPTypes
import Logging
public import TablesProtocol

extension SyncEngine {
    /// Sends a client's read to the backend. Of the answer it is only stored which rows a list with query pairs
    /// of the client's own had, if its table is here.
    public func forward(_ read: ForwardedRead) async -> ForwardedAnswer {
        var change: Int64 = 0
        if read.pairs != nil {
            change = (try? await store.read { try $0.counters.changeCount() }) ?? 0
        }
        switch await exchange(read) {
        case .none(let reason, let wait): return .unreachable(reason: reason, retryAfter: wait)
        case .untranslatable: return .untranslatable
        case .exchange(let exchange, let answer):
            if let pairs = read.pairs, case .rows(let page) = exchange.answer {
                let isWhole = read.isWhole(page, of: generation)
                await note(page, isWhole: isWhole, of: read.table, pairs, asOf: change)
            }
            return answer
        }
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

    /// Brings up to date which rows the backend's list with a client's own pairs has, and these rows: the table
    /// is pulled, then the list.
    /// - Returns: whether the backend gave the whole list.
    public func follow(_ pairs: OwnPairs, of table: TableName) async -> Bool {
        let copy = await perform(.pull(PullRequest(table: table)))
        guard copy.state != .offline, copy.state != .signIn else { return false }
        let run = await perform(.pull(.following(pairs, of: table)))
        return run.pull.contains { $0.error == nil }
    }

    /// Whether the backend's list with a client's own pairs was followed to its end once.
    public func hasFollowed(_ pairs: OwnPairs, of name: TableName) async -> Bool {
        let token = try? await store.read { transaction in
            try transaction.tables.table(name).flatMap {
                try transaction.tokens.known(pairs, $0)
            }
        }
        return token?.isComplete == true
    }

    /// Fetches one item of a table that was not pulled yet, deleted or not, because a client changes it.
    /// - Returns: nil if the item is in the store now; otherwise the backend's answer.
    /// - Throws: ``StoreError`` when the store cannot be written.
    public func fetch(
        _ id: ItemID, of table: TableName, headers: HTTPFields = [:], generation: Generation
    ) async throws(StoreError) -> ForwardedAnswer? {
        let change = try await store.read { try $0.counters.changeCount() }
        let read = ForwardedRead(
            table: table, target: .item(id, includeDeleted: true), headers: headers,
            generation: generation)
        switch await exchange(read) {
        case .none(let reason, let wait): return .unreachable(reason: reason, retryAfter: wait)
        case .untranslatable: return .untranslatable
        case .exchange(let exchange, let answer):
            guard case .row(let row) = exchange.answer, row.id.isLike(id) else { return answer }
            try await store.write { transaction in
                let record = try IDKinds(transaction: transaction).tableForRows(table, [.row(row)])
                _ = try PulledRows(transaction: transaction).take(
                    .row(row), to: record, asOf: change)
                if record.part != nil { try transaction.doubts.add([row.id.text], of: record) }
                if try transaction.items.row(record, id) == nil {
                    try transaction.assignedIDs.addAlias(id, of: row.id, record)
                }
            }
            return nil
        }
    }

    private enum ReadOutcome {
        case exchange(RemoteExchange, ForwardedAnswer)
        case untranslatable
        case none(reason: String, retryAfter: Duration?)
    }

    /// Sends a client's read to the backend.
    ///
    /// 1. Offline mode, a missing token and a store that belongs to another backend forbid it.
    /// 2. If the backend's generation is not known, the table is listed first, as for a proof.
    /// 3. If the backend answers, but with no list, the read is sent in the client's generation, then in
    ///    the others.
    /// 4. What the answer shows about the connection to the backend is recorded at once.
    private func exchange(_ read: ForwardedRead) async -> ReadOutcome {
        let credential = credential()
        if case .offline = scheduler.mode {
            return .none(reason: "Offline mode is on.", retryAfter: nil)
        }
        if credential == .missing { return .none(reason: Self.tokenMissing, retryAfter: nil) }
        do throws(StoreError) {
            if let reason = try await otherBackendReason() {
                return .none(reason: reason, retryAfter: nil)
            }
        } catch {
            return .none(reason: error.description, retryAfter: nil)
        }
        if let failure = await namedWait(of: read.table) {
            return .none(reason: failure.reason, retryAfter: failure.retryAfter)
        }
        // The backend may want a key of the client's own in every request.
        let keys = read.headers.filter { $0.name.canonicalName.contains("key") }
        if knownGeneration == nil || !keys.isEmpty && scheduler.backend.state == .signedOut {
            var failure = await findGeneration(with: read, credential)
            if failure?.state == .signedOut, !keys.isEmpty {
                learnedKeys = HTTPFields(keys)
                failure = await findGeneration(with: read, credential)
            }
            if let failure, failure.state != .signedOut {
                if !Task.isCancelled { await recordFailure(failure, of: read.table) }
                return .none(reason: failure.reason, retryAfter: failure.retryAfter)
            }
        }
        let now = clock.now()
        guard let (exchange, spoken, sent) = await send(read, credential) else {
            return .untranslatable
        }
        guard let answer = sent.answer(exchange, spoken: spoken, now: now) else {
            let failure = Prover.failure(exchange.answer, read.table)
            // A cancelled request says nothing about the backend.
            if !Task.isCancelled { await recordFailure(failure, of: read.table) }
            return .none(reason: failure.reason, retryAfter: failure.retryAfter)
        }
        await record(answer, exchange.answer, credential)
        return .exchange(exchange, answer)
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
        var read = wanted.asking(atMost: takenRows[wanted.table] ?? .max)
        let others = Generation.allCases.reversed().filter { $0 != read.generation }
        let isList = if case .list = read.target { true } else { false }
        var first: (RemoteExchange, Generation, ForwardedRead)?
        for generation in knownGeneration.map({ [$0] }) ?? [read.generation] + others {
            var remote = remote(credential)
            remote.generation = generation
            guard let request = read.request(for: generation) else { continue }
            var exchange = await remote.send(request, asList: isList)
            if knownGeneration != nil,
                let (smaller, sent) = await sendSmaller(read, after: exchange.answer, remote)
            {
                return (smaller, generation, sent)
            }
            // A backend without orders lists in its own.
            if knownGeneration != nil, read.hasOrderOfIDsAlone, exchange.answer.mayRefuseOrder {
                read.isInBackendsOrder = true
                guard let plain = read.request(for: generation) else { continue }
                exchange = await remote.send(plain, asList: isList)
                if let (smaller, sent) = await sendSmaller(read, after: exchange.answer, remote) {
                    return (smaller, generation, sent)
                }
            }
            guard exchange.answer.mayNeedOtherGeneration else {
                return (exchange, generation, read)
            }
            first = first ?? (exchange, generation, read)
        }
        return first
    }

    /// Sends a list again for fewer rows, if the backend may have refused their number, and remembers for its
    /// table the number that was taken.
    /// - Returns: nil if the number was not the reason.
    private func sendSmaller(
        _ refused: ForwardedRead, after refusal: RemoteAnswer, _ remote: Remote
    ) async -> (RemoteExchange, ForwardedRead)? {
        var (read, answer) = (refused, refusal)
        for _ in 0..<SyncLimits.smallerPages {
            guard let (smaller, rows) = read.smaller(after: answer),
                let request = smaller.request(for: remote.generation)
            else { return nil }
            let exchange = await remote.send(request, asList: true)
            if case .rows = exchange.answer {
                if takenRows.count >= SyncLimits.readTables { takenRows = [:] }
                takenRows[read.table] = rows
                return (exchange, smaller)
            }
            (read, answer) = (smaller, exchange.answer)
        }
        return nil
    }

    /// Finds the backend's generation with a list of the table.
    /// - Returns: why the backend cannot be used; nil if it answers, even without a list.
    private func findGeneration(
        with read: ForwardedRead, _ credential: Credential
    ) async -> Prover.Failure? {
        var prover = prover(remote(credential))
        // A refusal proves the backend too, and does not show its generation.
        prover.writers = read.generation
        switch await prover.prove([read.table]) {
        case .proven(let generation):
            await noteProof(of: generation)
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
            guard !isProven || scheduler.backend.state != .online else { return }
            guard knownGeneration != nil else { return await noteReachable() }
            isProven = true
            await noteProven()
        case .other, .withoutRow:
            if scheduler.backend.state != .online { await noteReachable() }
        case .refused:
            // One table may require a sign-in that others do not. Without a token, a 401 is about this
            // table only, and shows that the backend answers.
            if remote == .unauthorized, case .token = credential {
                refused(credential)
                if hasOtherToken(than: credential) { signal.send(.signedIn) }
                await announceStatus()
            } else if !scheduler.backend.state.isConsistent(with: remote) {
                await noteReachable()
            }
        case .unreachable, .untranslatable: break
        }
    }

    /// The wait that the backend, or the table of a read, named and that is not over; nil if there is none.
    private func namedWait(of table: TableName) async -> Prover.Failure? {
        if let failure = await namedWait() { return failure }
        let (tables, failure) = await allowed([table])
        return tables.isEmpty ? failure : nil
    }

    /// Records that the backend is out of reach, as soon as one request shows it. A failure that may be the
    /// table's is followed by a proof; if the table named a time, it is not asked before.
    private func recordFailure(_ failure: Prover.Failure, of table: TableName) async {
        if failure.mayBeOfTable {
            if failure.retryAfter != nil {
                let random = random
                do {
                    try await store.write {
                        _ = try $0.tableWaits.note(.pull, of: table, failure, random: random)
                    }
                } catch {
                    log.warning("wait not stored", metadata: ["error": "\(error)"])
                }
            }
            let gap = Duration.seconds(SyncLimits.readGapSeconds)
            let isProvenNow = provenAt.map { clock.uptime() - $0 < gap } ?? false
            return isProvenNow ? () : signal.send(.unreachable)
        }
        let before = scheduler.backend.state
        fail(failure)
        await keepNamedWait(failure)
        if scheduler.backend.state != before { await announceStatus() }
        signal.send(nil)
    }
}

extension BackendState {
    /// Whether a refusal says nothing new about the backend: it is online, or it still asks for a sign-in.
    fileprivate func isConsistent(with refusal: RemoteAnswer) -> Bool {
        self == .online || self == .signedOut && refusal == .unauthorized
    }
}
