import HTTPMessage
import HTTPTypes
import Logging
import TablesProtocol

/// The stream of changes of a backend that has one (docs/PROTOCOL.md). A table that it names is pulled soon
/// instead of at the next interval, which goes on beside it.
final class ChangeFollowing: InEngine {
    private let backend: KnownBackend
    private let transport: any HTTPTransport
    /// Since when the stream is followed; nil while it is not.
    private(set) var since: Instant?
    private var plan = FollowPlan()
    /// The tables that the stream named and that wait for their pull.
    private var heard = HeardChanges()

    /// - Parameter transport: one that is used for the stream alone.
    init(_ backend: KnownBackend, by transport: any HTTPTransport) {
        (self.backend, self.transport) = (backend, transport)
    }

    var context: EngineContext { backend.context }

    func run() async {
        plan = FollowPlan()
        while !Task.isCancelled, !context.isRetired {
            _ = context.followSignal.take()
            guard isPossible else {
                await context.followSignal.wait(until: nil, clock)
                continue
            }
            let credential = backend.access.credential()
            let end = await follow(credential)
            if since != nil {
                since = nil
                log.info(
                    "changes of the backend are not followed",
                    metadata: ["identity": "\(store.identity)"])
            }
            let next = clock.uptime() + plan.pause(after: end, random: random)
            while isPossible(credential), clock.uptime() < next {
                _ = context.followSignal.take()
                wishForPulls()
                await context.followSignal.wait(until: min(next, heard.next ?? next), clock)
            }
        }
    }

    /// Whether the stream may be asked for. The interval stands for syncing without a request.
    private var isPossible: Bool {
        let scheduler = context.scheduler
        guard !isSwitchedOff, settings.triggers.contains(.interval), scheduler.backend.isAsked,
            scheduler.backend.state == .online, backend.binding == .bound
        else { return false }
        return backend.access.credential() != .missing
    }

    /// Whether what was begun with this credential goes on.
    private func isPossible(_ credential: Credential) -> Bool {
        !Task.isCancelled && !context.isRetired && isPossible
            && credential == backend.access.credential()
    }

    /// Asks for the stream, and reads it to its end.
    private func follow(_ credential: Credential) async -> FollowPlan.End {
        var remote = backend.remote(credential)
        remote.transport = transport
        let response: Response
        do throws(TransportError) {
            response = try await remote.openChanges()
        } catch {
            return .unavailable(retryAfter: nil)
        }
        let type = response.head.headerFields[.contentType].map { MediaType($0).name }
        guard response.head.status == .ok, type == ChangeStream.mediaType,
            case .stream(let stream) = response.body
        else {
            if case .stream(let stream) = response.body { stream.cancel() }
            let wait = RetryAfter.parse(response.head, now: clock.now())
            return plan.end(status: response.head.status.code, retryAfter: wait)
        }
        defer { stream.cancel() }
        plan.began()
        let begun = clock.uptime()
        since = clock.now()
        log.info("changes of the backend are followed", metadata: ["identity": "\(store.identity)"])
        return await read(stream, credential)
            ? .givenUp : .ended(after: clock.uptime() - begun)
    }

    /// Reads the stream until it ends, or is silent for too long, no faster than ``FollowPace`` allows. What is not
    /// read yet waits at the backend.
    /// - Returns: whether it was given up because something has changed here.
    private func read(_ stream: ByteStream, _ credential: Credential) async -> Bool {
        var reader = ChangeStreamReader()
        var pace = FollowPace()
        var lastPiece = clock.uptime()
        let followSignal = context.followSignal
        while isPossible(credential) {
            wishForPulls()
            _ = followSignal.take()
            if let next = pace.next(now: clock.uptime()) {
                await followSignal.wait(until: min(next, heard.next ?? next), clock)
                continue
            }
            let wake: @Sendable () -> Void = { followSignal.send(nil) }
            switch stream.read(maxBytes: SyncLimits.changePieceBytes, wake: wake) {
            case .bytes(let bytes):
                lastPiece = clock.uptime()
                guard let events = try? reader.take(bytes) else { return false }
                pace.took(bytes: bytes.count, events, now: lastPiece)
                for event in events { await hear(event) }
            case .end, .failed: return false
            case .wait:
                let end = lastPiece + .seconds(SyncLimits.followSilenceSeconds)
                guard clock.uptime() < end else { return false }
                await followSignal.wait(until: min(end, heard.next ?? end), clock)
            }
        }
        return true
    }

    private func hear(_ event: ChangeEvent) async {
        switch event {
        case .spread(let milliseconds): plan.take(spread: milliseconds)
        case .change(let table, let stamp):
            guard await isNews(stamp, of: table) else { return }
            heard.add(table, at: clock.uptime() + plan.pullDelay(random: random))
        case .reset:
            let known = (try? await store.read { try $0.tables.all() }) ?? []
            for table in known.filter({ !$0.pause.stopsPulls }).map(\.name) {
                heard.add(table, at: clock.uptime() + plan.pullDelay(random: random))
            }
        }
    }

    /// Whether a table of this store has changed since its last pull, as far as its latest stamp shows that. One
    /// whose pulls a person has paused has no news.
    private func isNews(_ stamp: Instant?, of name: TableName) async -> Bool {
        let isWanted = settings.tables.contains(name)
        let isNews = try? await store.read { transaction in
            guard let table = try transaction.tables.table(name) else { return isWanted }
            if table.pause.stopsPulls { return false }
            guard let stamp, table.isWholeHere, !table.mustCompare else { return true }
            let pulled = try transaction.tokens.pulledUpTo(table)
            return pulled.map { $0 < stamp } ?? true
        }
        return isNews ?? true
    }

    /// Wishes for the pulls of the tables that were named and are due.
    private func wishForPulls() {
        let tables = heard.take(now: clock.uptime())
        for table in tables { context.scheduler.wish(.pull(PullRequest(table: table))) }
        if !tables.isEmpty { signal.send(nil) }
    }
}

/// Decides when the backend is asked for its stream of changes. Pure.
///
/// Most backends have no such stream. One that answers otherwise is left alone for a long while, and its answer
/// says nothing else about it.
struct FollowPlan: Sendable, Hashable {
    /// How a request for the stream ended.
    enum End: Sendable, Hashable {
        /// An answer that is no stream.
        case notOffered
        /// The credential is refused.
        case refused
        /// No answer, or one to come again, perhaps after a time.
        case unavailable(retryAfter: Duration?)
        /// The stream was here for this time, and has ended.
        case ended(after: Duration)
        /// The engine gave it up, because something has changed here.
        case givenUp
    }

    /// Whether this backend has ever offered the stream.
    private(set) var isOffered = false
    /// The requests in a row without a stream that lasted.
    private(set) var failures = 0
    /// Over how long followers spread what they do, as the backend last said.
    private(set) var spread = Duration.milliseconds(SyncLimits.changeSpreadMilliseconds)

    /// Records that a stream has begun.
    mutating func began() { isOffered = true }

    /// Records the backend's word about the spread.
    mutating func take(spread milliseconds: Int) {
        spread = .milliseconds(min(milliseconds, SyncLimits.changeSpreadMaxMilliseconds))
    }

    /// The kind of an answer that is no stream.
    func end(status: Int, retryAfter: Duration?) -> End {
        switch status {
        case 401: .refused
        case 403 where retryAfter == nil: .refused
        case 403, 407, 421, 425, 429, 503: .unavailable(retryAfter: retryAfter)
        case 500... where isOffered: .unavailable(retryAfter: retryAfter)
        default: .notOffered
        }
    }

    /// How long to wait before the next request, with full jitter. Where the backend names no spread, or a very
    /// short one, a backoff and a floor of its own hold.
    mutating func pause(after end: End, random: any RandomSource) -> Duration {
        switch end {
        case .givenUp: return .zero
        case .notOffered:
            failures = 0
            return .seconds(SyncLimits.followRestSeconds)
        case .refused:
            failures = 0
            return .seconds(SyncLimits.followRefusedSeconds)
        case .ended(let time) where time >= .seconds(SyncLimits.followLastingSeconds):
            failures = 0
            return pause(random)
        case .ended:
            failures += 1
            return pause(random)
        case .unavailable(let retryAfter):
            failures += 1
            return (retryAfter ?? .zero) + pause(random)
        }
    }

    private func pause(_ random: any RandomSource) -> Duration {
        max(
            .milliseconds(SyncLimits.followFloorMilliseconds),
            jitter(atMost: max(spread, backoff), random))
    }

    /// When a change that is heard now is pulled.
    func pullDelay(random: any RandomSource) -> Duration { jitter(atMost: spread, random) }

    /// The longest wait after this many failures. A backend that has never offered the stream is asked ever more
    /// rarely.
    private var backoff: Duration {
        let doublings = min(max(failures - 1, 0), SyncLimits.backoffDoublings)
        let cap =
            isOffered ? SyncLimits.followCapSeconds : SyncLimits.followRestSeconds
        return min(
            .milliseconds(SyncLimits.changeSpreadMilliseconds << Int64(doublings)), .seconds(cap))
    }

    private func jitter(atMost longest: Duration, _ random: any RandomSource) -> Duration {
        .milliseconds(Int64(random.next(below: UInt64(max(longest.wholeMilliseconds, 0)) + 1)))
    }
}

/// When the next piece of a stream may be read, so that what a backend streams takes little of a core. Pure.
struct FollowPace: Sendable, Hashable {
    /// Until when what was read would have taken at the highest pace.
    private var end = Duration.zero

    /// Records a piece. A `reset` reads all tables, and so counts as many events.
    mutating func took(bytes: Int, _ events: [ChangeEvent], now: Duration) {
        let weight = events.reduce(0) { $0 + ($1 == .reset ? SyncLimits.changesInReset : 1) }
        let seconds = max(
            Double(bytes) / SyncLimits.followBytesPerSecond,
            Double(weight) / SyncLimits.followEventsPerSecond)
        end = max(end, now) + .seconds(seconds)
    }

    /// The uptime from which on a piece may be read, a second ahead of the pace; nil if that is now.
    func next(now: Duration) -> Duration? {
        let next = end - .seconds(1)
        return next > now ? next : nil
    }
}

/// Tables that were said to have changed, each with the uptime at which it is pulled. Pure.
struct HeardChanges: Sendable, Hashable {
    private(set) var due: [TableName: Duration] = [:]
    /// The tables that were taken in the last ``SyncLimits/changePullSeconds``, each with the uptime from which on
    /// it may be taken again.
    private var resting: [TableName: Duration] = [:]

    /// When the first one is due; nil without any.
    var next: Duration? { due.values.min() }

    /// Adds a table; one that waits already keeps its time.
    mutating func add(_ table: TableName, at time: Duration) {
        let time = max(time, resting[table] ?? time)
        due[table] = min(due[table] ?? time, time)
    }

    /// Removes the tables that are due.
    mutating func take(now: Duration) -> [TableName] {
        let taken = due.filter { $0.value <= now }.keys.sorted { $0.key < $1.key }
        guard !taken.isEmpty else { return [] }
        resting = resting.filter { $0.value > now }
        for table in taken {
            due[table] = nil
            resting[table] = now + .seconds(SyncLimits.changePullSeconds)
        }
        return taken
    }
}
