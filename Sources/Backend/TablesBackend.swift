import Dispatch
public import HTTPMessage
import HTTPTypes
import Synchronization
public import TablesProtocol

/// A complete `/tables` server over a ``RowStorage``.
///
/// `understudy-site` runs it for a site, the demo as its backend, and tests in process; they ask it
/// afterwards what took effect, how often and in which order. It shares no code with the engine.
public final class TablesBackend: Sendable {
    /// Receives the text of an error.
    public typealias FailureReport = @Sendable (String) -> Void

    package let storage: any RowStorage
    package let clock: @Sendable () -> Instant
    private let rules: BackendRules
    private let control: FaultControl
    let meter = RequestMeter()
    private let entrance: ClientEntrance
    private let outage: StorageOutage
    private let failures = FailureReports()
    private let feed: ChangeFeed
    private let changes: ChangeRoutes
    private let accessControl: AccessControl
    private let drain = Drain()
    private let expiry: ExpiryRounds
    let health: HealthRoutes
    let service: TableService
    private let faulty: FaultyService
    private let calls: StorageCalls
    /// The time since some moment; it only goes forward.
    private let uptime: @Sendable () -> Duration

    /// Opens the backend on SQLite.
    ///
    /// - Parameters:
    ///   - path: the database file; nil keeps everything in memory.
    ///   - options: the options of the backend.
    ///   - clock: the time; it may jump.
    ///   - random: where ids, random versions and the chances of faults come from.
    /// - Throws: SQLite's error when the file cannot be opened or is that of another backend.
    public convenience init(
        at path: String? = nil, options: BackendOptions = BackendOptions(),
        clock: @escaping @Sendable () -> Instant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        // What is in memory is never restored.
        try self.init(
            on: SQLiteRowStorage(at: path, startedAt: path == nil ? nil : clock()),
            options: options, clock: clock, random: random)
    }

    /// Opens the backend on a storage.
    /// - Parameter uptime: the time since some moment, which only goes forward; nil for the process' own.
    /// - Throws: the storage's error when the tables of the options cannot be made, or ``OtherIDKind``.
    package init(
        on storage: any RowStorage, options: BackendOptions,
        clock: @escaping @Sendable () -> Instant, uptime: (@Sendable () -> Duration)? = nil,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        (self.storage, self.clock) = (storage, clock)
        let rules = BackendRules(options)
        let uptime = uptime ?? { Uptime.now }
        let random = SharedRandom(random)
        (self.rules, self.uptime) = (rules, uptime)
        outage = StorageOutage(uptime: uptime)
        feed = ChangeFeed(now: clock) { options.told($0, to: $1, rules.profile) }
        changes = ChangeRoutes(rules, storage, feed, outage)
        entrance = ClientEntrance(rules, meter, clock: clock)
        accessControl = AccessControl(rules, meter, clock: clock)
        calls = StorageCalls(storage)
        expiry = ExpiryRounds(options.kept, calls, clock: clock)
        health = HealthRoutes(
            options: options, storage: storage, outage: outage, meter: meter, feed: feed,
            expiry: expiry, drain: drain)
        control = FaultControl(options, storage, random)
        service = TableService(
            rules: rules, storage: storage, clock: clock, random: random, outage: outage,
            failures: failures, access: accessControl, changes: changes)
        faulty = FaultyService(service: service, rules: rules)
        for (name, table) in options.tables {
            try OtherIDKind.check(name, table, in: storage)
            try storage.declare(name, table)
        }
    }
}

/// A table has items with ids of another kind than the options say. With these options they would be lost to
/// clients.
public struct OtherIDKind: Error, Hashable, CustomStringConvertible {
    let table: TableName
    /// What the ids of its items are.
    let stored: IDKind

    /// The reason and what to do, in sentences.
    public var description: String {
        switch stored {
        case .integer:
            "The items of the table \(table) have integer ids. Add the word integer to the table in the "
                + "settings: --table \(table):integer."
        case .string:
            "The table \(table) has items whose ids are no whole numbers up to \(Limits.numberedID). Take "
                + "the word integer away from the table in the settings, or its name from integer-ids."
        }
    }

    /// Throws where a table that has items would get ids of another kind. Text ids that are all whole numbers
    /// may become integers: a program that did not look may have turned them into texts.
    @available(*, noasync)
    static func check(
        _ table: TableName, _ options: TableOptions, in storage: any RowStorage
    ) throws {
        guard let stored = try storage.table(table)?.options.idKind, stored != options.idKind
        else { return }
        var page = try storage.rows(in: table, after: "", limit: Limits.checkedRows)
        while let last = page.last {
            guard stored == .string, page.allSatisfy({ isNumber($0.id) }) else {
                throw OtherIDKind(table: table, stored: stored)
            }
            page = try storage.rows(in: table, after: last.id, limit: Limits.checkedRows)
        }
    }

    /// Whether an id is a whole number as a server with integer ids writes it, which every client can read.
    private static func isNumber(_ id: String) -> Bool {
        guard let number = Int64(id) else { return false }
        return number.magnitude <= Limits.numberedID.magnitude && String(number) == id
    }
}

extension TablesBackend: HTTPHandler, RequestHandler {
    /// Takes any head; the body is bounded. Where tokens are verified, the administrator's paths are
    /// refused here to others. Otherwise the control paths need a Host that is a loopback name,
    /// because a web page can point a name of its own at this machine (DNS rebinding).
    public func admit(_ request: Request) -> Admission {
        let call = Call(request)
        if rules.verifiesTokens {
            // By the head alone, so that such a body is not kept: the server answers before a long one, and drops
            // a short one first. What a table asks of a request without a token is looked at after its body.
            if let refusal = accessControl.refusal(call) { return .refuse(refusal) }
        } else if rules.options.servesFaults, call.isControl, !isOwnName(request) {
            return .refuse(
                Response(
                    status: .misdirectedRequest, headerFields: [.contentType: "application/json"],
                    body: Array(
                        #"{"error":"Ask for this at 127.0.0.1 or localhost, with the port."}"#.utf8)
                ))
        }
        return .accept(bodyLimitBytes: Limits.bodyBytes)
    }

    /// Answers a request on the server's own thread, or later: when the faults have it wait, and where the
    /// storage has threads of its own.
    public func handle(_ request: Request) -> Answer {
        let began = ContinuousClock.now
        // Of a request that the budget refuses no signature is verified.
        let unverified = Call(request)
        var stays: [ClientStay] = []
        var overload =
            enter(entrance.decide(ofAddress: unverified), &stays)
            ?? entrance.budgetRefusal(unverified)
        let call = overload == nil ? accessControl.withSender(unverified) : unverified
        if overload == nil { overload = enter(entrance.decide(ofUser: call), &stays) }
        let finish: @Sendable (Response) -> Response = { [stays] response in
            for stay in stays { stay.end() }
            let time = began.duration(to: .now) / .seconds(1)
            self.meter.add(call, status: response.head.status.code, seconds: time)
            return self.drain.closing(response)
        }
        if let refusal = overload ?? accessControl.refusal(call) { return .now(finish(refusal)) }
        // Without a thread of the storage: after a node has ended, all of its followers come at once.
        if changes.serves(call), rules.options.tokens != .issued {
            return .now(finish(service.serve(call)))
        }
        if case .ownThreads(let submit) = storage.callThreads { return later(call, submit, finish) }
        if let answer = health.answer(call) ?? control.answer(call) { return .now(answer) }
        let plan = control.plan(call)
        guard plan.latencyMilliseconds > 0 else {
            return .now(finish(faulty.serve(call, plan.fault)))
        }
        return .later { reply in
            Self.after(plan.latencyMilliseconds) {
                reply(finish(self.faulty.serve(call, plan.fault)))
            }
        }
    }

    /// Keeps the stay of a client that may enter.
    /// - Returns: the answer to one that may not.
    private func enter(
        _ entrance: ClientEntrance.Decision, _ stays: inout [ClientStay]
    ) -> Response? {
        switch entrance {
        case .free(let stay):
            if let stay { stays.append(stay) }
            return nil
        case .refused(let response): return response
        }
    }

    /// Puts work in a lane of the storage's threads.
    private typealias Submit =
        @Sendable (CallLane, @escaping @Sendable () -> Void) -> Submission

    private func later(
        _ call: Call, _ submit: @escaping Submit,
        _ finish: @escaping @Sendable (Response) -> Response
    ) -> Answer {
        // Health that reports on the pool is answered without a thread of the pool.
        if let subject = HealthSubject(call), subject != .ready || drain.isOn,
            let answer = health.answer(call)
        {
            return .now(answer)
        }
        return .later { reply in
            let serve: @Sendable (FaultPlan) -> Void = { plan in
                let isTried = plan.fault == nil && call.isListRead
                self.queue(
                    call, plan.fault, in: isTried ? .list : .brief, submit, reply, finish)
            }
            if HealthSubject(call) != nil || self.rules.options.servesFaults && call.isControl {
                return serve(FaultPlan())
            }
            let plan = self.control.plan(call)
            guard plan.latencyMilliseconds > 0 else { return serve(plan) }
            Self.after(plan.latencyMilliseconds) { serve(plan) }
        }
    }

    /// Answers a request on a thread of the storage.
    ///
    /// 1. A list is tried for a short time. If it needs more, it begins anew in the lane of long lists.
    /// 2. A request that no thread has taken after ``Limits/queuedSeconds`` is answered then. No thread
    ///    takes it later.
    private func queue(
        _ call: Call, _ fault: FaultKind?, in lane: CallLane, _ submit: @escaping Submit,
        _ reply: Reply, _ finish: @escaping @Sendable (Response) -> Response
    ) {
        let asked = uptime()
        let turn = Turn {
            // A list that waits for other lists says nothing of the database.
            if lane == .brief {
                self.outage.began("A request waited too long for the database.")
            }
            reply(finish(self.rules.unavailable(call)))
        }
        let submission = submit(lane) {
            let waited = self.uptime() - asked
            if waited > .seconds(Limits.queuedSeconds) { return turn.end() }
            guard turn.begin() else { return }
            if waited >= .seconds(Limits.abandonedSeconds), reply.clientHasLeft {
                return reply(finish(self.rules.unavailable(call)))
            }
            guard lane == .longList || reply.tryBeginChange() else { return }
            if let answer = self.health.answer(call) ?? self.control.answer(call) {
                return reply(answer)
            }
            guard lane == .list else { return reply(finish(self.faulty.serve(call, fault))) }
            if let response = self.service.serveBriefly(call) { return reply(finish(response)) }
            self.queue(call, fault, in: .longList, submit, reply, finish)
        }
        switch submission {
        case .begins: break
        case .waits: Self.after(Limits.queuedSeconds * 1000) { turn.end() }
        case .refused:
            if lane == .brief { outage.began("Too many requests wait for the database.") }
            reply(finish(rules.unavailable(call)))
        }
    }

    private static func after(_ milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(
            deadline: .now() + .milliseconds(milliseconds), execute: work)
    }

    /// Answers a request at once, in process; neither latencies nor the budget count.
    ///
    /// A dropped answer is a response whose stream has failed without a byte, a torn one a response
    /// whose stream fails half-way.
    @available(*, noasync)
    public func respond(to request: Request) -> Response {
        let call = accessControl.withSender(Call(request))
        if let refusal = accessControl.refusal(call) { return refusal }
        return health.answer(call) ?? control.answer(call)
            ?? drain.closing(faulty.serve(call, control.plan(call).fault))
    }

    private func isOwnName(_ request: Request) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { name in
            request.head.authority == "\(name):\(request.connection.localPort)"
        }
    }
}

extension TablesBackend {
    /// The faults that act from now on.
    public var faults: Faults {
        get { control.faults }
        set { control.faults = newValue }
    }

    /// How many requests came, by method, and those of unknown methods as `other`. Those that were dropped or
    /// refused count too.
    public var requestCounts: [String: Int] { control.requestCounts }

    /// The writes that took effect after a number, by number. On PostgreSQL that is the order of commits
    /// within one table only.
    @available(*, noasync)
    public func effects(after: Int64 = 0, limit: Int = .max) throws -> [Effect] {
        try storage.effects(after: after, limit: limit)
    }

    /// The writes that took effect after a number, by number. On PostgreSQL that is the order of commits
    /// within one table only.
    public func effects(after: Int64 = 0, limit: Int = .max) async throws -> [Effect] {
        try await onStorageThread { try $0.effects(after: after, limit: limit) }
    }

    /// How many writes took effect on an item: it grows with every one, a repeated one too.
    @available(*, noasync)
    public func effectCount(_ table: TableName, _ id: String) throws -> Int {
        try storage.effectCount(of: id, in: table)
    }

    /// How many writes took effect on an item: it grows with every one, a repeated one too.
    public func effectCount(_ table: TableName, _ id: String) async throws -> Int {
        try await onStorageThread { try $0.effectCount(of: id, in: table) }
    }

    /// All rows of a table as they are stored, tombstones too, by id.
    @available(*, noasync)
    public func items(in table: TableName) throws -> [Item] { try storage.items(in: table) }

    /// All rows of a table as they are stored, tombstones too, by id.
    public func items(in table: TableName) async throws -> [Item] {
        try await onStorageThread { try $0.items(in: table) }
    }

    /// Calls the storage from a task, on a thread that may wait.
    package func onStorageThread<T: Sendable>(
        _ body: @escaping @Sendable (any RowStorage) throws -> T
    ) async throws -> T { try await calls.onThread(body) }
}

// What the program that runs the backend tells it, and hears of it.
extension TablesBackend {
    /// Whose tokens are accepted, where they are verified; nil while none is. A new value holds from the next
    /// request on.
    package var access: (any TokenVerifier)? {
        get { accessControl.verifier }
        set {
            accessControl.verifier = newValue
            // Those whose tokens are still good come again.
            feed.endAll(closing: false)
        }
    }

    /// Receives the text of each error that is answered with ``Refusal/failed``. The text may name hosts or
    /// hold what is stored: it is for the operator alone. Nil drops it.
    public var onFailure: FailureReport? {
        get { failures.onFailure }
        set { failures.onFailure = newValue }
    }

    /// Receives what the operator should know of the storage: it cannot answer, or it answers again. Nil
    /// drops it.
    public var onStorageNews: (@Sendable (StorageNews) -> Void)? {
        get { outage.report }
        set { outage.report = newValue }
    }

    /// Counts a request that the server refused by itself.
    public func count(_ reason: RefusalReason) { meter.count(rejected: reason.rawValue) }

    /// From now on `/-/readyz` is answered with 503, and every other request as before, with
    /// `Connection: close`. A balancer that asks `/-/readyz` then connects clients to other nodes.
    /// Followers of changes turn to them at once.
    public func beginToDrain() {
        drain.begin()
        endFollowing()
    }

    /// Ends the streams of changes, and refuses new ones: a stop waits for no stream.
    public func endFollowing() { feed.endAll(closing: true) }

    /// Removes effects and tombstones that are no longer kept.
    public func removeExpired() async throws { try await expiry.run() }
}

/// The calls of tasks to a storage, each on a thread that may wait.
struct StorageCalls: Sendable {
    private let storage: any RowStorage
    /// Runs the calls of a storage that runs on its callers' threads.
    private let queue = DispatchQueue(label: "understudy.backend.task-calls")

    init(_ storage: any RowStorage) { self.storage = storage }

    func onThread<T: Sendable>(
        _ body: @escaping @Sendable (any RowStorage) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let work: @Sendable () -> Void = { [storage] in
                continuation.resume(with: Result { try body(storage) })
            }
            switch storage.callThreads {
            case .callersThread: queue.async(execute: work)
            case .ownThreads(let submit):
                if case .refused = submit(.brief, work) {
                    let error = StorageUnavailable(reason: "Too many calls wait for the database.")
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}

extension RowStorage {
    /// The rows of a table as items, in no flavour's form.
    fileprivate func items(in name: TableName) throws -> [Item] {
        let hasNumbers = try table(name)?.options.idKind == .integer
        return try rows(in: name).map { $0.item(hasNumbers ? .integer : .string) }
    }
}

/// The time since a moment of this process.
package enum Uptime {
    private static let start = ContinuousClock.now

    /// It only goes forward.
    package static var now: Duration { start.duration(to: ContinuousClock.now) }
}

/// The turn of a request that waits for a thread: either it begins, or its waiting ends without it.
private final class Turn: Sendable {
    /// What is done when the waiting ends; nil after either. What it holds is let go then.
    private let unserved: Mutex<(@Sendable () -> Void)?>

    init(_ unserved: @escaping @Sendable () -> Void) { self.unserved = Mutex(unserved) }

    /// Begins the request; false if its waiting has ended.
    func begin() -> Bool { take() != nil }

    /// Ends the waiting of a request that has not begun.
    func end() { take()?() }

    private func take() -> (@Sendable () -> Void)? {
        unserved.withLock { unserved in
            defer { unserved = nil }
            return unserved
        }
    }
}
