public import Backend
public import HTTPMessage
import HTTPTypes
import Synchronization
public import TablesProtocol

/// The connection from one proxy to the simulated backend. The seed draws the faults of each request, and
/// the process crashes at a planned request or commit.
final class FaultyTransport: HTTPTransport {
    private struct State {
        var faultRate = 0.0
        var isPartitioned = false
        /// The number of requests and commits until the process crashes; nil if no crash is planned.
        var stepsToCrash: Int?
        var isDead = false
        /// Requests that the network delivers later.
        var late: [Request] = []
        var during: (@Sendable () async -> Void)?
        /// The number of requests, and the uptime until which an answer asked to wait.
        var requests = 0
        var patience = Duration.zero
    }
    let base: any HTTPTransport
    let random: SeededRandom
    let trace: Trace
    private let plantedBug: (any PlantedBug)?
    private let name: String
    private let state = Mutex(State())
    private let clock: ManualClock
    private let executor: SimulationExecutor
    /// Keeps the files as they are at the crash.
    private let onCrash: @Sendable () -> Void

    init(
        _ name: String, _ base: any HTTPTransport, clock: ManualClock, executor: SimulationExecutor,
        random: SeededRandom, trace: Trace, plantedBug: (any PlantedBug)?,
        onCrash: @escaping @Sendable () -> Void
    ) {
        (self.name, self.base, self.clock, self.random) = (name, base, clock, random)
        self.executor = executor
        (self.trace, self.onCrash, self.plantedBug) = (trace, onCrash, plantedBug)
    }

    var faultRate: Double {
        get { state.withLock { $0.faultRate } }
        set { state.withLock { $0.faultRate = newValue } }
    }
    /// The number of requests so far.
    var requests: Int { state.withLock { $0.requests } }
    /// Whether requests succeed now, and no answer asked to wait.
    var isClear: Bool {
        let now = clock.uptime()
        return state.withLock { state in
            state.faultRate == 0 && !state.isPartitioned && !state.isDead
                && state.stepsToCrash == nil
                && state.patience <= now
        }
    }
    var isDead: Bool { state.withLock { $0.isDead } }
    var plansCrash: Bool { state.withLock { $0.stepsToCrash != nil } }

    func planCrash(in steps: Int?) { state.withLock { $0.stepsToCrash = steps } }
    func restart() { state.withLock { ($0.isDead, $0.stepsToCrash) = (false, nil) } }
    /// Discards the requests that the network has held up.
    func dropLate() { state.withLock { $0.late = [] } }
    func partition(_ isPartitioned: Bool) { state.withLock { $0.isPartitioned = isPartitioned } }
    /// Sets the action that runs while a request is in flight.
    func setConcurrentAction(_ action: (@Sendable () async -> Void)?) {
        state.withLock { $0.during = action }
    }

    /// Counts a step.
    /// - Returns: true exactly once, if the process crashes at this step.
    func crashes() -> Bool {
        let isNow = state.withLock { state in
            guard let steps = state.stepsToCrash, !state.isDead else { return false }
            state.stepsToCrash = steps - 1
            guard steps <= 0 else { return false }
            state.isDead = true
            return true
        }
        if isNow {
            onCrash()
            trace.fault("crash")
        }
        return isNow
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        executor.settle()
        state.withLock { $0.requests += 1 }
        if isDead { throw Self.refused }
        trace.note("\(name) \(request.head.method.rawValue) \(request.head.path ?? "")")
        if random.happens(0.5), crashes() { throw Self.lost }
        if random.happens(0.3) { try await deliverLate() }
        let response = try await sendWithFaults(request)
        if let during = state.withLock({ $0.during }), random.happens(0.2) { await during() }
        if crashes() { throw Self.lost }
        return response
    }

    /// Delivers the held-up requests. Their answers are dropped.
    func deliverLate() async throws(TransportError) {
        let late = state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
        for request in late {
            trace.note("\(name) late \(request.head.method.rawValue) \(request.head.path ?? "")")
            _ = try await base.send(request)
        }
    }

    private func sendWithFaults(
        _ request: Request
    ) async throws(TransportError) -> Response {
        if state.withLock({ $0.isPartitioned }) {
            trace.fault("partition")
            throw random.happens(0.5) ? Self.refused : Self.lost
        }
        if let response = try await plantedBug?.answer(request, base: base, random: random) {
            return response
        }
        guard random.happens(faultRate) else { return try await base.send(request) }
        let isRead = request.head.method == .get
        let fault = random.pick(isRead ? Self.readKinds : Self.kinds)
        trace.fault(fault)
        return try await inject(fault, into: request)
    }

    private func inject(
        _ fault: String, into request: Request
    ) async throws(TransportError) -> Response {
        switch fault {
        case "not sent": throw Self.refused
        case "vanished": throw Self.lost
        case "answer lost":
            _ = try await base.send(request)
            throw Self.lost
        case "late":
            state.withLock { $0.late.append(request) }
            throw Self.lost
        case "late again":
            state.withLock { $0.late.append(request) }
            return try await base.send(request)
        case "delayed":
            clock.advance(by: .seconds(Int64(random.next(below: 30))))
            return try await base.send(request)
        case "twice":
            _ = try await base.send(request)
            return try await base.send(request)
        case "applied, then 500":
            _ = try await base.send(request)
            return answer("500")
        case "applied, then torn":
            let whole = try await base.send(request)
            return Response(
                status: .ok, headerFields: [.contentType: "application/json"],
                body: Array((whole.bytes ?? []).dropLast(3)) + Array("{".utf8))
        case "page":
            return Response(
                status: .ok, headerFields: [.contentType: "text/html"],
                body: Array("<html></html>".utf8))
        default: return answer(fault)
        }
    }

    /// An answer of a server in between. It may ask to wait, in either form of `Retry-After`.
    private func answer(_ status: String) -> Response {
        var fields: HTTPFields = [:]
        let seconds = Int64(random.next(below: 90))
        let patience = clock.uptime() + .seconds(seconds)
        state.withLock { $0.patience = max($0.patience, patience) }
        switch random.next(below: 3) {
        case 0 where ["429", "503"].contains(status): fields[.retryAfter] = String(seconds)
        case 1 where ["429", "503"].contains(status):
            let end = clock.now().milliseconds + seconds * 1000
            fields[.retryAfter] = Instant(milliseconds: end).httpDate
        default: break
        }
        return Response(
            status: .init(code: Int(status) ?? 503), headerFields: fields,
            body: Array(#"{"error":"simulated"}"#.utf8))
    }

    /// The faults of a list.
    static let readKinds = [
        "not sent", "vanished", "answer lost", "delayed", "applied, then torn", "page", "500",
        "502", "503", "504", "429", "408", "401",
    ]
    /// The faults of a write.
    static let kinds =
        readKinds + [
            "late", "late again", "twice", "applied, then 500", "400", "403", "409", "412", "413",
        ]
    private static let refused = TransportError(
        reach: .notSent, cause: .connect, message: "Connection refused")
    private static let lost = TransportError(
        reach: .maybeSent, cause: .timeout, message: "Timed out")
}

/// The reference backend as a transport, with the wire format but without a socket.
public struct InProcessTransport: HTTPTransport {
    private let backend: TablesBackend
    private let date: (@Sendable () -> Instant)?

    /// Makes a transport to a backend.
    /// - Parameter date: the clock of the web server before it, for the `Date` of its answers; nil for answers
    ///   without one.
    public init(_ backend: TablesBackend, date: (@Sendable () -> Instant)? = nil) {
        (self.backend, self.date) = (backend, date)
    }

    /// Sends a request. A stream of the backend that fails is a broken connection.
    public func send(_ request: Request) async throws(TransportError) -> Response {
        var response = try Self.whole(respond(request))
        if let date { response.head.headerFields[.date] = date().httpDate }
        return response
    }

    private func respond(_ request: Request) -> Response { backend.respond(to: request) }

    private static func whole(_ response: Response) throws(TransportError) -> Response {
        guard case .stream(let stream) = response.body else { return response }
        var bytes: [UInt8] = []
        while true {
            switch stream.read(maxBytes: 1 << 20, wake: {}) {
            case .bytes(let chunk): bytes += chunk
            case .end: return Response(head: response.head, body: bytes)
            case .wait:
                throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
            case .failed:
                throw bytes.isEmpty
                    ? TransportError(reach: .maybeSent, cause: .reset, message: "Connection reset")
                    : TransportError(
                        reach: .maybeSent, cause: .tornBody, message: "The answer broke off")
            }
        }
    }
}

extension Request {
    /// A request of a second generation client.
    public static func tables(
        _ method: String, _ path: String, _ body: String? = nil, ifMatch: String? = nil
    ) -> Request {
        var head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: "backend:1",
            path: path)
        if let name = HTTPField.Name("ZUMO-API-VERSION") { head.headerFields[name] = "2.0.0" }
        if body != nil { head.headerFields[.contentType] = "application/json" }
        head.headerFields[.ifMatch] = ifMatch
        return Request(head: head, body: body.map { Array($0.utf8) } ?? [])
    }
}
