import HTTPMessage
import TablesProtocol

/// Proves that a /tables backend answers at the address, before anything is sent to it.
struct Prover: Sendable {
    var remote: Remote
    var isGenerationOpen: Bool
    /// Whether the remote's generation was detected before.
    var isRemembered = false
    /// The tables that need give no list: those that have taken a write, and those that the operator trusts.
    var unlisted: Set<TableName> = []
    /// The generation of the writes that wait, where that of the backend is not known.
    var writers: Generation?

    enum Outcome: Sendable, Hashable {
        /// A table gave a list.
        case proven(Generation)
        case failed(Failure)
    }

    /// Why the backend cannot be used.
    struct Failure: Sendable, Hashable {
        var state: BackendState
        var reason: String
        var retryAfter: Duration?
        /// Whether the failure is about one table only.
        var isAboutTable = false
        /// Whether the backend itself failed, for example with 500, rather than asking for a later request.
        var isFault = false
        /// Whether it may be about one table: a status of 5xx, or 408.
        var mayBeOfTable = false
        var request: FailedRequest?
        /// Whether a proof that followed the request failed too.
        var hasFailedProof = false

        /// Whether the backend as a whole named a time before which it is not to be asked.
        var forbidsRequests: Bool { state == .degraded && retryAfter != nil }
    }

    /// Proves the backend.
    ///
    /// 1. A few tables are listed, the most likely first. A table that is missing or not readable says
    ///    nothing about the others.
    /// 2. The first list proves the backend. A failure of the backend as a whole (out of reach, 429, a
    ///    network's sign-in page, 401 to a token) ends the proof. Any other answer does not. An error such as
    ///    500 or 503 may be about its table, so a few other tables are asked.
    /// 3. Without a list, the first such error is the outcome, else the first failure. If several tables were
    ///    asked for and each gave JSON that is no list, this is no table's script: the server does not speak
    ///    /tables.
    func prove(_ tables: [TableName]) async -> Outcome {
        var first: Failure?
        var faults: [Failure] = []
        let asked = tables.prefix(SyncLimits.proofTables)
        var withoutList = 0
        for table in asked where faults.count < SyncLimits.proofFaults {
            let (answer, generation) = await ask(table)
            if answer.isOfScript { withoutList += 1 }
            switch outcome(answer, table, in: generation) {
            case .proven(let generation): return .proven(generation)
            case .failed(var failure):
                failure.request = remote.failures.last(of: table)
                if failure.mayBeOfTable {
                    faults.append(failure)
                } else if failure.state != .notTables, !failure.isAboutTable {
                    return .failed(failure)
                }
                first = first ?? failure
            }
        }
        if withoutList > 1, withoutList == asked.count { first?.isAboutTable = false }
        guard var fault = faults.first else {
            return .failed(
                first ?? Failure(state: .offline, reason: "There is no table to ask for."))
        }
        // Each of them asked not to be tried earlier, so the backend is not.
        fault.retryAfter = faults.compactMap(\.retryAfter).max()
        return .failed(fault)
    }

    /// Lists one table. If the generation has to be detected and the answer may differ in another
    /// generation, the others are tried too. The first answer that cannot differ counts. If there is none, a
    /// request to sign in counts, else the first answer.
    /// - Returns: the answer, and the generation in which it was given.
    func ask(_ table: TableName) async -> (RemoteAnswer, Generation) {
        let first = await answer(table, in: remote.generation)
        guard isGenerationOpen, mayDifferInOtherGeneration(first) else {
            return (first, remote.generation)
        }
        var refusals = [first]
        for generation in Generation.allCases.reversed() where generation != remote.generation {
            let other = await answer(table, in: generation)
            guard mayDifferInOtherGeneration(other) else { return (other, generation) }
            refusals.append(other)
        }
        let worst = refusals.first { $0 == .unauthorized } ?? first
        return (worst, remote.generation)
    }

    /// Whether another generation may get another answer. Its token is in other fields.
    private func mayDifferInOtherGeneration(_ answer: RemoteAnswer) -> Bool {
        if case .token = remote.credential, answer == .unauthorized { return true }
        return answer.mayNeedOtherGeneration
    }

    private func answer(_ table: TableName, in generation: Generation) async -> RemoteAnswer {
        var asking = remote
        asking.generation = generation
        return await asking.list(table, .any)
    }

    /// The outcome of an answer. The rows show the generation better than the accepted protocol version.
    func outcome(
        _ answer: RemoteAnswer, _ table: TableName, in generation: Generation
    ) -> Outcome {
        guard case .rows(let page) = answer else {
            if isProof(answer, of: table) {
                let isFound = !isGenerationOpen || generation != remote.generation
                return .proven(isFound ? generation : writers ?? generation)
            }
            var failure = Self.failure(answer, table)
            // Without a token, one table may require a sign-in that the others do not require.
            if answer == .unauthorized, remote.credential == .none { failure.isAboutTable = true }
            return .failed(failure)
        }
        guard isGenerationOpen else { return .proven(generation) }
        // An empty list is the same in all generations, and may come from any server, so the known
        // generation stays.
        if isRemembered, generation == remote.generation, page.elements.isEmpty {
            return .proven(generation)
        }
        if page.isDatasync { return .proven(.datasync) }
        // A table of Mobile Services may have a column of its own with that name, beside its system's.
        let hasPlainNames =
            page.rows.first.map { $0.updatedAt == nil && $0.columns["updatedAt"] != nil } ?? false
        if generation == .mobileServices, !hasPlainNames { return .proven(.mobileServices) }
        return .proven(.mobileApps)
    }

    /// Whether an answer proves the backend although it is no list. A page, or a server of another kind, may
    /// refuse a list too, so a refusal counts only where it says that it comes from a /tables server, or where
    /// the table has taken a write before, or is trusted. A page counts for 405 alone, which no network's sign-in
    /// page has. A 404 is no proof: a site that is gone answers so to everything.
    private func isProof(_ answer: RemoteAnswer, of table: TableName) -> Bool {
        let mayBeUnlisted = unlisted.contains(table)
        switch answer {
        case .rejected(status: 403, _), .rejected(status: 405, _):
            return mayBeUnlisted || remote.failures.last(of: table)?.isOfTables == true
        // With a token, it is the token that is refused.
        case .unauthorized: return mayBeUnlisted && remote.credential == .none
        case .unusable(status: 405, .html): return mayBeUnlisted
        case .row, .rows, .empty, .conflict, .missing, .rejected, .failed, .unavailable, .unusable,
            .unreachable:
            return false
        }
    }

    /// The failure that an answer other than a list shows.
    static func failure(_ answer: RemoteAnswer, _ table: TableName) -> Failure {
        switch answer {
        case .unreachable(let error):
            return Failure(state: .offline, reason: error.aboutBackend)
        case .unauthorized:
            return Failure(state: .signedOut, reason: "The backend asks to sign in.")
        case .unavailable(let status, let wait):
            let later = Later(status: status)
            return Failure(
                state: later == .line && wait == nil ? .offline : .degraded,
                reason: Later.reason(status), retryAfter: wait, mayBeOfTable: later == .table)
        case .failed(let status, _):
            return Failure(
                state: .degraded, reason: "The backend fails with \(status).",
                isFault: status != 408, mayBeOfTable: true)
        case .unusable(let status, .html) where status < 400 || status == 511:
            return Failure(
                state: .portal,
                reason: "A page came instead of data: a sign-in page of the network?")
        case .unusable(_, .redirect):
            return Failure(
                state: .portal, reason: "The request was sent somewhere else: a sign-in page?")
        // Some servers answer 404 with a page if there is no such table.
        case .missing, .unusable(status: 404, .html):
            return Failure(
                state: .notTables, reason: "There is no table \(table)\(answer.inBrackets).",
                isAboutTable: true)
        case .unusable(let status, .unexpectedShape) where status < 400:
            return Failure(
                state: .notTables,
                reason:
                    "Table \(table) gives no list, so it is not copied: what its read answers is "
                    + "JSON of another shape.", isAboutTable: true)
        case .unusable(_, let why):
            return Failure(
                state: .notTables, reason: "What answers for table \(table) is \(why.words).")
        case .rejected(let status, _), .conflict(let status, _, _):
            return Failure(
                state: .notTables, reason: "Table \(table) cannot be listed (\(status)).",
                isAboutTable: true)
        case .row, .rows, .empty:
            return Failure(
                state: .notTables, reason: "Table \(table) answers without a list.",
                isAboutTable: true)
        }
    }
}

extension TransportError {
    /// Why the backend did not answer, and what to do where its certificate is not trusted.
    var aboutBackend: String {
        guard cause == .untrusted else { return message }
        return BackendStatus.untrusted
            + "(\(message)). If an authority of your own has signed it, name "
            + "that authority's file with --backend-ca."
    }
}

extension RemoteAnswer {
    /// The status of an answer about a missing table, in brackets.
    fileprivate var inBrackets: String {
        if case .missing(let status, _) = self { return " (\(status))" }
        return " (404)"
    }
}
