import HTTPMessage
import HTTPTypes
import Logging
import TablesProtocol

/// The backend of an engine, and what its requests carry.
struct BackendAccess: Sendable {
    let transport: any HTTPTransport
    let configuration: BackendConfiguration
    let credential: @Sendable () -> Credential
    /// Called with a credential that the backend answered with 401.
    let credentialRefused: @Sendable (Credential) -> Void
    /// The application key that clients send.
    let applicationKey: @Sendable () -> String?
}

/// What an engine knows of its backend: its generation, whether it may be asked, whether it is the one that it
/// claims to be, and what its answers have said about its reach.
final class KnownBackend: InEngine {
    /// Where the generation is from.
    private enum GenerationSource {
        /// The configuration, which may leave it open.
        case configuration
        /// An earlier proof, perhaps of an earlier process. It is only tried first: the backend may have another
        /// one by now.
        case memory
        /// A proof. A transient failure does not change that.
        case proof
    }

    let context: EngineContext
    let access: BackendAccess
    /// The backend's generation, as found or as configured.
    private(set) var generation: Generation
    private var source = GenerationSource.configuration
    /// Whether the backend gave a list, and nothing has failed since.
    var isProven = false
    /// When it last gave one, in uptime.
    var provenAt: Duration?
    /// The tables that failed in proofs since it last gave one, the latest last.
    var failedInProofs: [TableName] = []
    /// The backend that the store belongs to; nil until it is read.
    private(set) var binding: Binding?
    /// See ``BackendBinding/owner()``; nil until ``binding`` is read.
    var owner: String?
    /// See ``BackendBinding/takers()``; empty until ``binding`` is read.
    private var takers: Set<TableName> = []
    /// Since when no table has proven the backend that answers, in uptime; nil if one has.
    private var unprovenSince: Duration?
    /// Before which the backend asked not to be tried (Retry-After), by the wall clock; nil if it named no
    /// time, or before the binding is read.
    var notBefore: Instant?
    /// The most rows that one list of a table may ask for, where the backend refused more.
    var takenRows: [TableName: Int] = [:]
    /// A client's keys, which every request has where the backend refuses those without. In memory alone.
    var learnedKeys: HTTPFields = [:]

    /// - Parameter known: the generation that an earlier engine found.
    init(_ context: EngineContext, _ access: BackendAccess, known: Generation?) {
        (self.context, self.access) = (context, access)
        generation = known ?? access.configuration.generation.first
        if known != nil { source = .proof }
    }

    var address: BackendAddress { access.configuration.address }

    /// The generation, as configured or found; nil until it is found.
    var knownGeneration: Generation? { isGenerationOpen ? nil : generation }

    private var isGenerationOpen: Bool {
        access.configuration.generation == .auto && source != .proof
    }

    /// The other generations that the backend may have.
    var otherGenerations: [Generation] {
        isGenerationOpen ? Generation.allCases.reversed().filter { $0 != generation } : []
    }

    // MARK: Requests

    func remote(_ credential: Credential) -> Remote {
        Remote(
            transport: access.transport, address: address, generation: generation,
            applicationKey: access.configuration.applicationKey ?? access.applicationKey(),
            credential: credential, clock: clock, meter: context.meter, clientFields: learnedKeys)
    }

    func prover(_ remote: Remote) -> Prover {
        Prover(
            remote: remote, isGenerationOpen: isGenerationOpen, isRemembered: source == .memory,
            unlisted: takers.union(settings.trustedTables))
    }

    /// A push of this engine's store.
    func pushPass(
        of engine: SyncEngine, _ credential: Credential, _ cancel: CancelFlag, _ slots: Permits,
        yields: (@Sendable () async -> Bool)? = nil,
        progress: @escaping @Sendable (PushReport, RunProgress) async -> Void = { _, _ in }
    ) -> PushPass {
        let remote = remote(credential)
        return PushPass(
            store: store, remote: remote, prover: prover(remote), settings: settings,
            random: random, cancel: cancel, log: log, slots: slots, live: store.live, owner: owner,
            proofTables: { table, goesLast in
                await engine.with { await $0.proofs.tables(afterFailureOf: table, goesLast) }
            },
            yields: yields, progress: progress)
    }

    /// Whether there is another token than the one that the backend refused.
    func hasOtherToken(than refused: Credential) -> Bool {
        let credential = access.credential()
        return credential != refused && credential != .missing
    }

    /// The failure of a backend that named a time before which nothing may be asked of it; nil if there is
    /// none, or if the time has passed. Not even a run that a person asks for is begun before it.
    func namedWait() -> Prover.Failure? {
        guard let time = notBefore else { return nil }
        let rest = time.milliseconds - clock.now().milliseconds
        guard rest > 0 else {
            notBefore = nil
            return nil
        }
        let status = context.scheduler.backend
        let reason =
            status.state == .degraded
            ? status.reason : "The backend has asked not to be tried before \(time.text)."
        return Prover.Failure(
            state: .degraded, reason: reason, retryAfter: .milliseconds(rest),
            request: status.failedRequest)
    }

    /// Why nothing may be sent to the backend: the store belongs to another one. Nil if it does not.
    func otherBackendReason() async throws(StoreError) -> String? {
        if binding == nil {
            let address = address
            let (binding, known, notBefore, owner, takers) = try await store.write { transaction in
                (
                    try transaction.binding.bind(to: address),
                    try transaction.binding.provenGeneration(),
                    try transaction.binding.notBefore(),
                    try transaction.binding.owner(), try transaction.binding.takers()
                )
            }
            self.binding = binding
            self.owner = owner
            self.takers = takers
            self.notBefore = notBefore
            if access.configuration.generation == .auto, let known, binding == .bound {
                generation = known
                if source == .configuration { source = .memory }
            }
        }
        guard case .other(let earlier) = binding else { return nil }
        let reason =
            "This data belongs to \(earlier). Nothing is sent to \(address) before it is "
            + "accepted with --rebind."
        context.memory.warnings = [reason]
        fail(Prover.Failure(state: .notTables, reason: reason, retryAfter: settings.interval))
        return reason
    }

    // MARK: What answers show

    /// Passes what a proof or a request outside a run found to the schedule.
    func note(_ stop: PushStop?, _ credential: Credential) async {
        switch stop {
        case nil, .cancelled, .yielded, .store: return
        case .signIn:
            refused(credential)
            if hasOtherToken(than: credential) { signal.send(.signedIn) }
        case .backend(let failure) where failure.isAboutTable:
            await noteReachable(about: failure)
        case .backend(let failure): await noteFailure(failure)
        }
    }

    /// Records a failure, and stores the time before which the backend asked not to be tried, so that a restart
    /// obeys it too.
    func noteFailure(_ failure: Prover.Failure) async {
        fail(failure)
        guard failure.forbidsRequests, let wait = failure.retryAfter else { return }
        let time = clock.now().advanced(by: wait)
        notBefore = time
        await write(or: "wait not stored") { try $0.binding.setNotBefore(time) }
    }

    func fail(_ failure: Prover.Failure) {
        isProven = false
        // A server that does not answer as /tables may have another generation by now.
        if failure.state == .notTables, source == .proof { source = .memory }
        context.scheduler.failed(failure, now: clock.uptime(), wall: clock.now(), random: random)
    }

    /// Records a 401.
    func refused(_ credential: Credential) {
        access.credentialRefused(credential)
        fail(Prover.Failure(state: .signedOut, reason: "The backend asks to sign in."))
    }

    /// Records that the backend is in reach, which is no proof.
    /// - Parameter failure: why the table that was asked for cannot be used.
    func noteReachable(about failure: Prover.Failure? = nil) async {
        let wasOnline = context.scheduler.backend.state == .online
        if failure != nil, !isProven { unprovenSince = unprovenSince ?? clock.uptime() }
        let reason = ["The backend answers.", failure?.reason].compactMap(\.self)
        context.scheduler.reached(
            now: clock.uptime(), wall: clock.now(), reason: reason.joined(separator: " "),
            refused: failure?.request)
        if !wasOnline { await announceStatus() }
    }

    /// Records that a table gave a list, and the backend's generation.
    func noteProof(of generation: Generation) async {
        self.generation = generation
        source = .proof
        await noteList()
    }

    /// Records that a table gave a list.
    func noteList() async {
        isProven = true
        await noteProven()
    }

    /// Records that the backend gave a list or a verdict: the store is bound to it, and if it was away, every
    /// operation that waits for a time is due.
    func noteProven() async {
        let wasOnline = context.scheduler.backend.state == .online
        provenAt = clock.uptime()
        unprovenSince = nil
        failedInProofs = []
        context.scheduler.reached(now: clock.uptime(), wall: clock.now())
        // Taken before the write, so that a failure during the write counts for the next time.
        let isRetryNeeded = context.scheduler.takeRetryAll()
        let (generation, server) = (generation, context.meter.server)
        let isNoted = await write(or: "backend not noted") { transaction in
            try transaction.binding.noteProven(generation, server)
            if isRetryNeeded { try transaction.dueOperations.makeAllDue() }
        }
        if !isNoted, isRetryNeeded { context.scheduler.requestRetryAll() }
        if !wasOnline { await announceStatus() }
    }

    /// Records that the backend took an insert of a client's: it is proven, and the table takes writes although it
    /// may give no list.
    func noteTaker(_ table: TableName, as generation: Generation) async {
        do throws(StoreError) {
            guard try await otherBackendReason() == nil else { return }
            try await store.write { try $0.binding.noteTaker(table) }
        } catch {
            log.warning("table not noted", metadata: ["error": "\(error)"])
        }
        takers.insert(table)
        await noteProof(of: knownGeneration ?? generation)
        guard context.scheduler.isAutomatic else { return }
        context.scheduler.wish(.push)
        signal.send(nil)
    }

    /// What a person is told of changes that wait although the backend answers, after a minute in which no table
    /// has proven it; nil before that.
    func proofAdvice(_ table: String) -> String? {
        guard let since = unprovenSince,
            clock.uptime() - since >= .seconds(SyncLimits.unprovenSeconds)
        else { return nil }
        return
            "Nothing is sent before a table gives a list, or takes an insert that a client sends while the "
            + "backend answers. If \(table) takes writes and gives no list: --trust-table \(table)."
    }

    /// Detects the generation again from the beginning: the backend has another one than was found.
    func forgetGeneration() {
        (isProven, source) = (false, .configuration)
        generation = access.configuration.generation.first
    }

    /// Forgets everything, because another backend was accepted.
    func forget(_ reason: String) {
        forgetGeneration()
        (binding, owner, unprovenSince, notBefore) = (nil, nil, nil, nil)
        context.meter.server = nil
        context.memory.warnings = []
        takenRows = [:]
        context.scheduler.forget(reason: reason, now: clock.uptime(), wall: clock.now())
        wake()
    }

    /// Forgets the proof and the generation, as after a restart.
    func forgetProof() {
        isProven = false
        if source == .proof { source = .memory }
    }
}
