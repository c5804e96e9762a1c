import HTTPMessage
import TablesProtocol

/// Finds out whether there is a /tables backend at the address, before anything is sent to it.
struct Prover: Sendable {
    var remote: Remote
    /// Whether the generation is to be found out.
    var isGenerationOpen: Bool
    /// The remote's generation was found out before.
    var isRemembered = false

    /// What a proof showed.
    enum Outcome: Sendable, Hashable {
        /// A table gave a list.
        case proven(Generation)
        case failed(Failure)
    }

    /// Why nothing may be sent.
    struct Failure: Sendable, Hashable {
        var state: BackendStatus.State
        var reason: String
        var retryAfter: Duration?
        /// It says something about one table, and nothing about the others.
        var isAboutTable = false
        /// It is a fault of the backend's own (500, say), and not "later".
        var isFault = false
    }

    /// Proves the backend.
    ///
    /// 1. A few tables are asked for a list, the most wanted first: one that is not there, or may
    ///    not be read, says nothing about the others.
    /// 2. The first list proves the backend. An answer that no table can change ends the search.
    /// 3. Without a list the backend is what the first answer made of it.
    func prove(_ tables: [TableName]) async -> Outcome {
        var first: Failure?
        for table in tables.prefix(SyncLimits.proofTables) {
            let (answer, generation) = await ask(table)
            switch outcome(answer, table, in: generation) {
            case .proven(let generation): return .proven(generation)
            case .failed(let failure):
                first = first ?? failure
                if failure.state != .notTables, !failure.isAboutTable { return .failed(failure) }
            }
        }
        return .failed(first ?? Failure(state: .offline, reason: "There is no table to ask for."))
    }

    /// Asks one table; where the generation is open and the backend refuses the dialect, as each
    /// generation refuses the marker of another, in the other dialects too. The first answer that
    /// is about the table counts, and rather one that asks to sign in than none.
    /// - Returns: the answer, and the generation whose dialect it answers.
    func ask(_ table: TableName) async -> (RemoteAnswer, Generation) {
        let first = await answer(table, in: remote.generation)
        guard isGenerationOpen, mayBeDialect(first) else { return (first, remote.generation) }
        var refusals = [first]
        for generation in Generation.allCases.reversed() where generation != remote.generation {
            let other = await answer(table, in: generation)
            guard mayBeDialect(other) else { return (other, generation) }
            refusals.append(other)
        }
        let worst = refusals.first { $0 == .unauthorized } ?? first
        return (worst, remote.generation)
    }

    /// Whether the answer may be another one in another dialect: a token is looked for in other
    /// fields there.
    private func mayBeDialect(_ answer: RemoteAnswer) -> Bool {
        if case .token = remote.credential, answer == .unauthorized { return true }
        return answer.refusesDialect
    }

    private func answer(_ table: TableName, in generation: Generation) async -> RemoteAnswer {
        var asking = remote
        asking.generation = generation
        return await asking.list(table, .any)
    }

    /// What an answer shows; rows tell the generation better than the dialect that was taken.
    func outcome(
        _ answer: RemoteAnswer, _ table: TableName, in generation: Generation
    ) -> Outcome {
        guard case .rows(let page) = answer else {
            var failure = Self.failure(answer, table)
            // Without a token, a table that wants a sign-in says nothing about the others.
            if answer == .unauthorized, remote.credential == .none { failure.isAboutTable = true }
            return .failed(failure)
        }
        guard isGenerationOpen else { return .proven(generation) }
        // An empty list looks alike in all generations, and may be anything's: what is known stands.
        if isRemembered, generation == remote.generation, page.elements.isEmpty {
            return .proven(generation)
        }
        if page.isDatasync { return .proven(.datasync) }
        let hasPlainNames = page.rows.first.map { $0.columns["updatedAt"] != nil } ?? false
        if generation == .mobileServices, !hasPlainNames { return .proven(.mobileServices) }
        return .proven(.mobileApps)
    }

    /// What an answer other than a list says about the backend.
    static func failure(_ answer: RemoteAnswer, _ table: TableName) -> Failure {
        switch answer {
        case .unreachable(let error): return Failure(state: .offline, reason: error.message)
        case .unauthorized:
            return Failure(state: .signedOut, reason: "The backend asks to sign in.")
        case .unavailable(let status, let wait):
            let reason =
                status == 429
                ? "The backend asks for fewer requests (429)."
                : "The backend is not available (\(status))."
            return Failure(state: .degraded, reason: reason, retryAfter: wait)
        case .failed(let status, _):
            return Failure(
                state: .degraded, reason: "The backend fails with \(status).",
                isFault: status != 408)
        case .unusable(let status, .html) where status < 400:
            return Failure(
                state: .portal,
                reason: "A page came instead of data: a sign-in page of the network?")
        case .unusable(_, .redirect):
            return Failure(
                state: .portal, reason: "The request was sent somewhere else: a sign-in page?")
        // Some servers say with a page that there is no such table.
        case .missing, .unusable(status: 404, .html):
            return Failure(
                state: .notTables, reason: "There is no table \(table)\(answer.inBrackets).",
                isAboutTable: true)
        case .unusable(_, let why):
            return Failure(
                state: .notTables, reason: "What answers for table \(table) is \(why.words).")
        case .rejected(let status, _), .conflict(let status, _):
            return Failure(
                state: .notTables, reason: "Table \(table) cannot be listed (\(status)).",
                isAboutTable: true)
        case .row, .rows, .empty:
            return Failure(state: .notTables, reason: "Table \(table) answers without a list.")
        }
    }
}

extension RemoteAnswer {
    /// The status of an answer that there is no such table.
    fileprivate var inBrackets: String {
        if case .missing(let status) = self { return " (\(status))" }
        return " (404)"
    }

    /// Whether the backend may want to be spoken to in another generation's way.
    var refusesDialect: Bool {
        switch self {
        case .rejected(status: 400, _), .unusable(status: 400, _), .unusable(_, .otherVersion): true
        case .row, .rows, .empty, .conflict, .missing, .unauthorized, .rejected, .failed,
            .unavailable, .unusable, .unreachable:
            false
        }
    }
}
