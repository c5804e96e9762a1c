public import HTTPMessage
import HTTPTypes
import Synchronization

/// A transport that fails where a test says so, and records the requests.
public final class FaultyTransport: HTTPTransport {
    /// The fault of one request.
    public enum Fault: Sendable {
        /// The request is not sent.
        case notSent
        /// The backend receives it; its answer is lost.
        case answerLost
        /// The request is lost, and the caller cannot tell whether it arrived.
        case vanished
        /// The backend receives it twice; the second answer is returned.
        case twice
        /// The backend receives it; this response replaces its answer.
        case answered(Response)
        /// The backend does not receive it; this response is returned.
        case instead(Response)
        /// The backend receives it; no answer comes before the request is cancelled.
        case hangs
        /// The backend receives it; the answer waits until the gate is opened.
        case held(Gate)
        /// The backend receives it; its answer is lost once the gate is opened.
        case lostAfter(Gate)
    }

    private struct State {
        var sent: [Request] = []
        var decide: @Sendable (Request, Int) -> Fault?
    }
    private let base: any HTTPTransport
    private let state: Mutex<State>

    /// Wraps a transport. `decide` is called with each request and its number from 0.
    public init(
        _ base: any HTTPTransport,
        decide: @escaping @Sendable (Request, Int) -> Fault? = { _, _ in nil }
    ) {
        self.base = base
        state = Mutex(State(decide: decide))
    }

    /// Replaces the decision.
    public func decide(_ decide: @escaping @Sendable (Request, Int) -> Fault?) {
        state.withLock { $0.decide = decide }
    }

    /// Applies a fault to the next request that matches, and to none after it.
    public func once(
        _ fault: Fault, where matches: @escaping @Sendable (Request) -> Bool = { _ in true }
    ) {
        let box = Box()
        decide { request, _ in
            guard matches(request), box.take() else { return nil }
            return fault
        }
    }

    private final class Box: Sendable {
        private let isSpent = Mutex(false)
        func take() -> Bool {
            isSpent.withLock { spent in
                defer { spent = true }
                return !spent
            }
        }
    }

    /// Every request so far, in order.
    public var sent: [Request] { state.withLock { $0.sent } }

    /// Every request so far as `METHOD target`, in order.
    public var targets: [String] {
        sent.map { "\($0.head.method.rawValue) \($0.head.path ?? "")" }
    }

    /// Forgets the requests.
    public func forget() { state.withLock { $0.sent = [] } }

    /// Sends a request, or applies its fault.
    public func send(_ request: Request) async throws(TransportError) -> Response {
        let (decide, number) = state.withLock { state in
            state.sent.append(request)
            return (state.decide, state.sent.count - 1)
        }
        switch decide(request, number) {
        case nil: return try await base.send(request)
        case .notSent:
            throw TransportError(reach: .notSent, cause: .connect, message: "Connection refused")
        case .answerLost:
            _ = try await base.send(request)
            throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
        case .vanished:
            throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
        case .twice:
            _ = try await base.send(request)
            return try await base.send(request)
        case .answered(let response):
            _ = try await base.send(request)
            return response
        case .instead(let response): return response
        case .hangs:
            _ = try await base.send(request)
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            continuation.finish()
            throw TransportError(reach: .maybeSent, cause: .cancelled, message: "Called off")
        case .held(let gate):
            let response = try await base.send(request)
            await gate.passed()
            return response
        case .lostAfter(let gate):
            _ = try await base.send(request)
            await gate.passed()
            throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
        }
    }
}

/// A gate that a test opens once.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrived: [CheckedContinuation<Void, Never>] = []
        var hasArrival = false
    }
    private let state = Mutex(State())

    /// Makes a closed gate.
    public init() {}

    /// Returns when the gate is open.
    public func passed() async {
        let arrived = state.withLock { state in
            state.hasArrival = true
            defer { state.arrived = [] }
            return state.arrived
        }
        for continuation in arrived { continuation.resume() }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Returns when a caller has arrived at the gate.
    public func waitForArrival() async {
        await withCheckedContinuation { continuation in
            let hasArrived = state.withLock { state in
                if !state.hasArrival { state.arrived.append(continuation) }
                return state.hasArrival
            }
            if hasArrived { continuation.resume() }
        }
    }

    /// Opens the gate for every caller.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
