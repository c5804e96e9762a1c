public import HTTPMessage
import HTTPTypes
import Synchronization
public import TablesProtocol

/// One look at a backend from outside, for a person who wants to know what is there. Nothing is
/// written, here or there.
public struct BackendExamination: Sendable {
    private let transport: any HTTPTransport
    private let backend: BackendConfiguration
    private let clock: any EngineClock

    /// What a look showed.
    public struct Findings: Sendable, Hashable {
        /// The generation that it answers like; nil when no table gave a list.
        public var generation: Generation?
        /// How it stands.
        public var state: BackendStatus.State
        /// Why, in plain words.
        public var reason: String
        /// The tables that gave a list, in the order in which they were asked.
        public var tables: [TableName] = []
        /// The tables that are not there. Each says nothing about another one.
        public var missing: [TableName] = []
        /// A sentence for each table that is there, or may be, and is not listed for this caller.
        public var refusals: [String] = []
        /// The system properties that the first row of the first table with rows has; nil without
        /// a row to look at.
        public var properties: Set<SystemProperty>?
        /// Whether no connection came about because its other end could not be trusted.
        public var isTLSFailure = false
        /// Whole seconds that this machine's clock is ahead of the backend's; nil when the backend
        /// did not tell the time.
        public var clockAheadSeconds: Int64?
    }

    /// Prepares a look.
    public init(
        _ backend: BackendConfiguration, transport: any HTTPTransport, clock: any EngineClock
    ) {
        self.backend = backend
        self.transport = transport
        self.clock = clock
    }

    /// Asks tables for a list, each by itself; at most ``SyncLimits/examinedTables``. One that gives a
    /// list proves the backend, whatever the others answer.
    public func findings(_ tables: [TableName]) async -> Findings {
        let witness = Witness(transport, clock)
        var findings = await findings(tables, through: witness)
        let seen = witness.seen.withLock { $0 }
        findings.isTLSFailure = seen.isTLSFailure
        findings.clockAheadSeconds = seen.clockAheadSeconds
        return findings
    }

    /// Notes what answers say besides their contents.
    private final class Witness: HTTPTransport {
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
                if error.cause == .tls { seen.withLock { $0.isTLSFailure = true } }
                throw error
            }
        }
    }

    private func findings(
        _ tables: [TableName], through transport: any HTTPTransport
    ) async -> Findings {
        let remote = Remote(
            transport: transport, address: backend.address, generation: backend.generation.first,
            applicationKey: backend.applicationKey, credential: .none, clock: clock)
        var prover = Prover(remote: remote, isGenerationOpen: backend.generation == .auto)
        var found = Findings(state: .notTables, reason: "There is no table to ask for.")
        var failures: [Prover.Failure] = []
        for table in tables.prefix(SyncLimits.examinedTables) {
            let (answer, spoken) = await prover.ask(table)
            if case .proven(let generation) = prover.outcome(answer, table, in: spoken) {
                prover.remote.generation = generation
                prover.isGenerationOpen = false
                found.generation = generation
            }
            switch answer {
            case .rows: found.tables.append(table)
            case .missing, .unusable(status: 404, .html): found.missing.append(table)
            case .rejected, .conflict:
                found.refusals.append(Prover.failure(answer, table).reason)
            case .row, .empty, .unauthorized, .failed, .unavailable, .unusable, .unreachable:
                failures.append(Prover.failure(answer, table))
            }
            // Without an answer every table would fare alike.
            if let last = failures.last, last.state == .offline || last.state == .portal { break }
        }
        if let first = found.tables.first {
            (found.state, found.reason) = (.online, "Table \(first) gives a list.")
            found.properties = await properties(found.tables, prover.remote)
        } else if let failure = failures.first {
            // More than a single table has to do with it.
            (found.state, found.reason) = (failure.state, failure.reason)
        } else if let missing = found.missing.first {
            found.reason = "There is no table \(missing)."
        } else if let refusal = found.refusals.first {
            found.reason = refusal
        }
        return found
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
