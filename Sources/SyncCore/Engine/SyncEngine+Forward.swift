import HTTPTypes
public import TablesProtocol

extension SyncEngine {
    /// Asks the backend what a client reads, and keeps nothing of the answer.
    public func forward(_ read: ForwardedRead) async -> ForwardedAnswer {
        switch await ask(read) {
        case .none(let reason, let wait): return .unreachable(reason: reason, retryAfter: wait)
        case .untranslatable: return .untranslatable
        case .exchange(_, let answer): return answer
        }
    }

    /// Takes one item of a table that is not copied yet, deleted or not, since a client changes it.
    /// - Returns: nil when it is here now; otherwise what the backend answered instead.
    /// - Throws: ``StoreError`` when the store cannot be written.
    public func fetch(
        _ id: ItemID, of table: TableName, generation: Generation
    ) async throws(StoreError) -> ForwardedAnswer? {
        let change = try await store.read { try $0.counters.changeCount() }
        let read = ForwardedRead(
            table: table, target: .item(id, includeDeleted: true), generation: generation)
        switch await ask(read) {
        case .none(let reason, let wait): return .unreachable(reason: reason, retryAfter: wait)
        case .untranslatable: return .untranslatable
        case .exchange(let exchange, let answer):
            guard case .row(let row) = exchange.answer, row.id.isLike(id) else {
                // Only a refusal is an answer to a write that was not made.
                if let status = exchange.status, status >= 400 { return answer }
                return .unreachable(
                    reason: "The backend answers the look-up of \(id) without a row.",
                    retryAfter: nil)
            }
            try await store.write { transaction in
                let record = try IDKinds(transaction: transaction).tableForRows(table, [.row(row)])
                _ = try PulledRows(transaction: transaction).take(
                    .row(row), to: record, asOf: change)
            }
            return nil
        }
    }

    /// What a question to the backend came to.
    private enum Asked {
        case exchange(Exchange, ForwardedAnswer)
        case untranslatable
        case none(reason: String, retryAfter: Duration?)
    }

    /// Asks the backend in a client's stead.
    ///
    /// 1. Offline mode, a missing token and a store that belongs to another backend forbid it.
    /// 2. A backend whose generation is not known is asked for a list of the table first, as for a proof.
    /// 3. Where that gives none, it is asked in the words of the client, then of the others.
    /// 4. What the answer shows of the way to the backend is booked at once.
    private func ask(_ read: ForwardedRead) async -> Asked {
        let credential = credential()
        if case .offline = scheduler.mode {
            return .none(reason: "Offline mode is on.", retryAfter: nil)
        }
        if credential == .missing { return .none(reason: Self.tokenMissing, retryAfter: nil) }
        do throws(StoreError) {
            if let reason = try await strangeBackend() {
                return .none(reason: reason, retryAfter: nil)
            }
        } catch {
            return .none(reason: error.description, retryAfter: nil)
        }
        if knownGeneration == nil,
            let failure = await findGeneration(with: read.table, credential)
        {
            if !Task.isCancelled { await bookFailure(failure) }
            return .none(reason: failure.reason, retryAfter: failure.retryAfter)
        }
        let now = clock.now()
        guard let (exchange, spoken) = await sent(read, credential) else { return .untranslatable }
        guard let answer = read.answer(exchange, spoken: spoken, now: now) else {
            let failure = Prover.failure(exchange.answer, read.table)
            // A caller who goes away says nothing of the backend.
            if !Task.isCancelled { await bookFailure(failure) }
            return .none(reason: failure.reason, retryAfter: failure.retryAfter)
        }
        await note(answer, exchange.answer, credential)
        return .exchange(exchange, answer)
    }

    /// Sends a read; in the words of each generation, the client's own first, where the backend's is not
    /// known and it refuses the words.
    /// - Returns: the answer and the generation whose words it answers; nil for what the backend's
    ///   generation cannot be asked.
    private func sent(
        _ read: ForwardedRead, _ credential: Credential
    ) async -> (Exchange, Generation)? {
        let others = Generation.allCases.reversed().filter { $0 != read.generation }
        let isList = if case .list = read.target { true } else { false }
        var first: (Exchange, Generation)?
        for generation in knownGeneration.map({ [$0] }) ?? [read.generation] + others {
            var remote = remote(credential)
            remote.generation = generation
            guard let request = read.request(for: generation) else { continue }
            let exchange = await remote.send(request, asList: isList)
            guard exchange.answer.refusesDialect else { return (exchange, generation) }
            first = first ?? (exchange, generation)
        }
        return first
    }

    /// Looks for the backend's generation by a list of the table.
    /// - Returns: why the backend cannot be used at all; nil when it answers, also without a list.
    private func findGeneration(
        with table: TableName, _ credential: Credential
    ) async -> Prover.Failure? {
        switch await prover(remote(credential)).prove([table]) {
        case .proven(let generation):
            await noteProof(of: generation)
            return nil
        case .failed(let failure):
            switch failure.state {
            // A fault of one table, which the client's own request shows.
            case .degraded where failure.isFault: return nil
            case .offline, .portal, .degraded: return failure
            case .online, .notTables, .signedOut: return nil
            }
        }
    }

    private func note(
        _ answer: ForwardedAnswer, _ remote: RemoteAnswer, _ credential: Credential
    ) async {
        switch answer {
        case .page, .item:
            guard !isProven || scheduler.backend.state != .online else { return }
            guard knownGeneration != nil else { return await answered() }
            isProven = true
            await reached()
        case .refused:
            // A table may want a sign-in that others do not want: without a token 401 is about the table.
            if remote == .unauthorized, case .token = credential {
                refused(credential)
                if hasOther(than: credential) { signal.send(.signedIn) }
                await announceStatus()
            } else if !scheduler.backend.state.isConsistent(with: remote) {
                await answered()
            }
        case .unreachable, .untranslatable: break
        }
    }

    /// Notes that the backend is out of reach as soon as one request shows it.
    private func bookFailure(_ failure: Prover.Failure) async {
        let before = scheduler.backend.state
        fail(failure)
        if scheduler.backend.state != before { await announceStatus() }
        signal.send(nil)
    }
}

extension BackendStatus.State {
    /// Whether a refusal says nothing new of the backend: it is online, or asks for a sign-in as before.
    fileprivate func isConsistent(with refusal: RemoteAnswer) -> Bool {
        self == .online || self == .signedOut && refusal == .unauthorized
    }
}
