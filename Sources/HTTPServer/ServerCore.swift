import HTTPMessage
public import HTTPTypes
import Synchronization

/// The state that all connections of one server share. libmicrohttpd's callbacks get a pointer to it.
final class ServerCore: Sendable {
    let handler: any HTTPHandler
    let limits: Limits
    let observer: (any RequestObserver)?
    let refused: @Sendable (RefusalReason) -> Void
    let reaper: ConnectionReaper
    let suspensions: Suspensions
    let workers = Workers()
    let exchanges: InFlightCounter
    let bodies: BodyMemory
    /// Whether connections are encrypted.
    let isSecure: Bool

    init(
        handler: any HTTPHandler, observer: (any RequestObserver)?, limits: Limits,
        reaper: ConnectionReaper, exchanges: InFlightCounter, changes: InFlightCounter,
        isSecure: Bool,
        refused: @escaping @Sendable (RefusalReason) -> Void
    ) {
        self.handler = handler
        self.observer = observer
        self.limits = limits
        self.reaper = reaper
        self.exchanges = exchanges
        self.isSecure = isSecure
        suspensions = Suspensions(changes: changes)
        bodies = BodyMemory(bytes: limits.bodiesBytes)
        self.refused = refused
    }
}

/// Counts what is in progress: the requests of a server, or the changes that they make. Stopping waits for
/// zero.
final class InFlightCounter: Sendable {
    private let count = Atomic<Int>(0)
    private let isAwaited = Atomic<Bool>(false)
    private let wakeup: Wakeup

    /// Takes the wake-up over.
    init(wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    deinit { wakeup.close() }

    var current: Int { count.load(ordering: .sequentiallyConsistent) }

    func increment() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    func decrement() {
        let left = count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isAwaited.load(ordering: .sequentiallyConsistent) {
            wakeup.signal()
        }
    }

    /// Blocks until the count is zero, at most `milliseconds`.
    @available(*, noasync)
    func waitUntilZero(milliseconds: Int) {
        isAwaited.store(true, ordering: .sequentiallyConsistent)
        if current > 0 { wakeup.wait(milliseconds: milliseconds) }
    }
}

/// The memory for request bodies, over all connections of a server.
///
/// The first ``Limits/smallBodyBytes`` of a body are not counted: the number of connections bounds them.
/// Further bytes are taken from one total.
final class BodyMemory: Sendable {
    private let free: Atomic<Int>

    /// - Parameter bytes: the total, all free at first.
    init(bytes: Int) { free = Atomic(bytes) }

    /// The bytes that no body holds.
    var freeBytes: Int { free.load(ordering: .relaxed) }

    /// Takes bytes; false, taking none, where fewer are free.
    func take(_ bytes: Int) -> Bool {
        let left = free.subtract(bytes, ordering: .relaxed).newValue
        if left >= 0 || bytes == 0 { return true }
        release(bytes)
        return false
    }

    /// Gives bytes back that were taken.
    func release(_ bytes: Int) { free.add(bytes, ordering: .relaxed) }
}

/// Receives each request that has ended.
public protocol RequestObserver: Sendable {
    /// Whether a request that begins now will be reported. Read for each request on the server's threads, so
    /// it must be cheap.
    var isWatching: Bool { get }
    /// Receives a request that has ended. Called on the server's threads.
    func ended(_ request: EndedRequest)
}

/// A request that has ended, with the status and size of its answer.
public struct EndedRequest: Sendable {
    /// The request's head; nil when the server refused it or could not read it.
    public var head: HTTPRequest?
    /// The status of the answer; nil when there was none, or libmicrohttpd answered by itself.
    public var status: HTTPResponse.Status?
    /// The bytes of the answer's body; of a streamed one, those that were sent.
    public var bodyBytes: Int
    /// The time from the request's first line until the answer was sent or the connection closed.
    public var duration: Duration
    /// Whether the answer was sent to its end.
    public var isWhole: Bool
}

/// Collects an ``EndedRequest`` while the request is answered.
struct RequestRecord {
    private let began = ContinuousClock.now
    /// The head, once it was read and passed the wire rules.
    var head: HTTPRequest?
    /// The answer that was handed to libmicrohttpd last.
    private var status: HTTPResponse.Status?
    private var bodyBytes = 0

    mutating func answered(_ status: HTTPResponse.Status, bodyBytes: Int) {
        (self.status, self.bodyBytes) = (status, bodyBytes)
    }

    /// The request, ended now.
    /// - Parameter streamedBytes: the bytes that were sent of a streamed body.
    func ended(streamedBytes: Int, isWhole: Bool) -> EndedRequest {
        EndedRequest(
            head: head, status: status, bodyBytes: bodyBytes + streamedBytes,
            duration: began.duration(to: .now), isWhole: isWhole)
    }
}
