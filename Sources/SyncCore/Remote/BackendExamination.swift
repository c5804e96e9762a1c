public import HTTPMessage
import HTTPTypes
import Synchronization
public import TablesProtocol

/// Examines a backend for a person who sets it up. Nothing is written, neither in the store nor on the
/// backend.
public struct BackendExamination: Sendable {
    private let transport: any HTTPTransport
    private let backend: BackendConfiguration
    private let clock: any EngineClock

    public struct Findings: Sendable, Hashable {
        /// The backend's generation; nil if no table gave a list.
        public var generation: Generation?
        public var state: BackendState
        /// Why it has this state, in plain words.
        public var reason: String
        /// The tables that gave a list, in the order of the requests.
        public var tables: [TableName] = []
        /// The tables that do not exist. Each says nothing about the others.
        public var missing: [TableName] = []
        /// A sentence for each table that may exist but is not listed for this caller.
        public var refusals: [String] = []
        /// The tables whose part the backend does not list, with a sentence that says why.
        public var refusedParts: [TableName: String] = [:]
        /// The system properties of the first row that was found; nil if no table has rows.
        public var properties: Set<SystemProperty>?
        /// Whether a connection failed because the server's certificate could not be verified.
        public var isTLSFailure = false
        /// By how many whole seconds this machine's clock is ahead of the backend's; nil if the backend
        /// sent no `Date`.
        public var clockAheadSeconds: Int64?

        /// A state that is known, with its reason.
        public init(state: BackendState, reason: String) {
            (self.state, self.reason) = (state, reason)
            isTLSFailure = reason.hasPrefix(BackendStatus.untrusted)
        }
    }

    public init(
        _ backend: BackendConfiguration, transport: any HTTPTransport, clock: any EngineClock
    ) {
        self.backend = backend
        self.transport = transport
        self.clock = clock
    }

    /// Lists each table, at most ``SyncLimits/examinedTables``. One list proves the backend, whatever the
    /// other tables answer.
    /// - Parameters:
    ///   - parts: the tables that are to be copied in part.
    ///   - trusted: see ``SyncSettings/trustedTables``.
    public func findings(
        _ tables: [TableName], parts: [TableName: TablePart] = [:], trusted: Set<TableName> = []
    ) async -> Findings {
        let recorder = ResponseRecorder(transport, clock)
        var findings = await findings(tables, parts, trusted, through: recorder)
        let seen = recorder.seen.withLock { $0 }
        findings.isTLSFailure = seen.isTLSFailure
        findings.clockAheadSeconds = seen.clockAheadSeconds
        return findings
    }

    /// A transport that also records TLS failures and the server's time.
    private final class ResponseRecorder: HTTPTransport {
        struct Seen {
            var isTLSFailure = false
            var clockAheadSeconds: Int64?
        }
        private let transport: any HTTPTransport
        private let clock: any EngineClock
        let seen = Mutex(Seen())

        init(_ transport: any HTTPTransport, _ clock: any EngineClock) {
            self.transport = transport
            self.clock = clock
        }

        func send(_ request: Request) async throws(TransportError) -> Response {
            do throws(TransportError) {
                let response = try await transport.send(request)
                let theirs = response.head.headerFields[.date].flatMap { Instant(httpDate: $0) }
                if let theirs {
                    let ahead = clock.now().milliseconds - theirs.milliseconds
                    seen.withLock { $0.clockAheadSeconds = ahead / 1000 }
                }
                return response
            } catch {
                if [.tls, .untrusted].contains(error.cause) {
                    seen.withLock { $0.isTLSFailure = true }
                }
                throw error
            }
        }
    }

    private func findings(
        _ tables: [TableName], _ parts: [TableName: TablePart], _ trusted: Set<TableName>,
        through transport: any HTTPTransport
    ) async -> Findings {
        let remote = Remote(
            transport: transport, address: backend.address, generation: backend.generation.first,
            applicationKey: backend.applicationKey, credential: .none, clock: clock)
        var prover = Prover(
            remote: remote, isGenerationOpen: backend.generation == .auto, unlisted: trusted)
        var unlisted: TableName?
        var found = Findings(state: .notTables, reason: "There is no table to ask for.")
        var failures: [Prover.Failure] = []
        for table in tables.prefix(SyncLimits.examinedTables) {
            let (answer, spoken) = await prover.ask(table)
            if case .proven(let generation) = prover.outcome(answer, table, in: spoken) {
                if case .rows = answer {
                    prover.remote.generation = generation
                    prover.isGenerationOpen = false
                    found.generation = generation
                } else {
                    unlisted = unlisted ?? table
                }
            }
            switch answer {
            case .rows:
                found.tables.append(table)
                found.refusedParts[table] = await refusal(
                    of: parts[table], of: table, prover.remote)
            case .missing, .unusable(status: 404, .html): found.missing.append(table)
            case .unusable where answer.isOfScript:
                found.refusals.append(Prover.failure(answer, table).reason)
            case .rejected, .conflict:
                found.refusals.append(Prover.failure(answer, table).reason)
            case .row, .empty, .unauthorized, .failed, .unavailable, .unusable, .unreachable:
                failures.append(Prover.failure(answer, table))
            }
            // Without any answer, every table would fail in the same way.
            if let last = failures.last, last.state == .offline || last.state == .portal { break }
        }
        if let first = found.tables.first {
            (found.state, found.reason) = (.online, "Table \(first) gives a list.")
            found.properties = await properties(found.tables, prover.remote)
        } else if let unlisted {
            (found.state, found.reason) = (.online, "Table \(unlisted) needs to give no list.")
        } else if let failure = failures.first {
            // The failure is not about one table only.
            (found.state, found.reason) = (failure.state, failure.reason)
        } else if let missing = found.missing.first {
            found.reason = "There is no table \(missing)."
        } else if let refusal = found.refusals.first {
            found.reason = refusal
        }
        return found
    }

    /// Why a table's part is not listed; nil if it is, or there is none.
    private func refusal(
        of part: TablePart?, of table: TableName, _ remote: Remote
    ) async -> String? {
        guard let part else { return nil }
        let rows = TableQuery(filter: part.query.filter, top: 1)
        let answer = await remote.list(table, PageQuery(rows, parameters: part.query.parameters))
        if case .rows = answer { return nil }
        return Prover.failure(answer, table).reason
    }

    private func properties(
        _ tables: [TableName], _ remote: Remote
    ) async -> Set<SystemProperty>? {
        for table in tables.prefix(SyncLimits.proofTables) {
            guard case .rows(let page) = await remote.list(table, .any), let row = page.rows.first
            else { continue }
            var found: Set<SystemProperty> = []
            if row.createdAt != nil { found.insert(.createdAt) }
            if row.updatedAt != nil { found.insert(.updatedAt) }
            if row.version != nil { found.insert(.version) }
            if row.deleted != nil { found.insert(.deleted) }
            return found
        }
        return nil
    }
}
