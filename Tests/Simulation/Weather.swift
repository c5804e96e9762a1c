import HTTPMessage
import HTTPTypes
import Synchronization
import TestSupport

/// The way to the simulated backend: what goes wrong is drawn from the seed, request by request, and
/// at a planned request or commit the process is gone.
final class Weather: HTTPTransport {
    private struct State {
        var faultRate = 0.0
        /// Steps (requests and commits) until the process ends; nil when it lives on.
        var stepsToCrash: Int?
        var isDead = false
        var trace: [String] = []
        var faults: [String: Int] = [:]
    }
    private let base: any HTTPTransport
    private let random: SeededRandom
    private let state = Mutex(State())
    /// Keeps what is on disk at the moment of the crash.
    private let onCrash: @Sendable () -> Void
    /// What the canary does to an answer: nil in every honest run.
    private let canary: Canary?

    /// A bug put in on purpose, which the checks must find.
    enum Canary: Sendable {
        /// Now and then a write is acknowledged and thrown away.
        case swallows
        /// Now and then a write is applied twice under another id.
        case doubles
    }

    init(
        _ base: any HTTPTransport, random: SeededRandom, canary: Canary?,
        onCrash: @escaping @Sendable () -> Void
    ) {
        (self.base, self.random, self.canary, self.onCrash) = (base, random, canary, onCrash)
    }

    var faultRate: Double {
        get { state.withLock { $0.faultRate } }
        set { state.withLock { $0.faultRate = newValue } }
    }
    var trace: [String] { state.withLock { $0.trace } }
    var faults: [String: Int] { state.withLock { $0.faults } }
    var isDead: Bool { state.withLock { $0.isDead } }

    func note(_ line: String) { state.withLock { $0.trace.append(line) } }
    func planCrash(in steps: Int?) { state.withLock { $0.stepsToCrash = steps } }
    func revive() { state.withLock { ($0.isDead, $0.stepsToCrash) = (false, nil) } }

    /// Counts a step; true exactly once, when the process ends with it.
    func crashes() -> Bool {
        let isNow = state.withLock { state in
            guard let steps = state.stepsToCrash, !state.isDead else { return false }
            state.stepsToCrash = steps - 1
            guard steps <= 0 else { return false }
            state.isDead = true
            return true
        }
        if isNow { onCrash() }
        return isNow
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        if isDead { throw Self.refused }
        note("\(request.head.method.rawValue) \(request.head.path ?? "")")
        if random.happens(0.5), crashes() { throw Self.lost }
        let response = try await perhaps(request)
        if crashes() { throw Self.lost }
        return response
    }

    private func perhaps(_ request: Request) async throws(TransportError) -> Response {
        if let response = try await tampered(request) { return response }
        guard random.happens(faultRate) else { return try await base.send(request) }
        let fault = random.pick(Self.kinds)
        state.withLock { $0.faults[fault, default: 0] += 1 }
        note("  \(fault)")
        switch fault {
        case "not sent": throw Self.refused
        case "vanished": throw Self.lost
        case "answer lost":
            _ = try await base.send(request)
            throw Self.lost
        case "twice" where request.head.method != .get:
            _ = try await base.send(request)
            return try await base.send(request)
        case "applied, then 500":
            _ = try await base.send(request)
            return Self.answer(500)
        case "applied, then torn":
            _ = try await base.send(request)
            return Response(
                status: .ok, headerFields: [.contentType: "application/json"],
                body: Array(#"{"id":"#.utf8))
        case "page":
            return Response(
                status: .ok, headerFields: [.contentType: "text/html"],
                body: Array("<html></html>".utf8))
        default: return Self.answer(Int(fault) ?? 503)
        }
    }

    /// What the planted bug answers, when it acts.
    private func tampered(_ request: Request) async throws(TransportError) -> Response? {
        guard let canary, request.head.method != .get, random.happens(0.2) else { return nil }
        switch canary {
        case .swallows:
            guard request.head.method == .post else { return nil }
            return Response(
                status: .created, headerFields: [.contentType: "application/json"],
                body: request.body)
        case .doubles:
            guard request.head.method == .post, !request.body.isEmpty else { return nil }
            var copy = request
            let text = String(decoding: request.body, as: UTF8.self)
            copy.body = Array(text.replacing(#""id":""#, with: #""id":"copy-"#).utf8)
            _ = try await base.send(copy)
            return nil
        }
    }

    static let kinds = [
        "not sent", "vanished", "answer lost", "twice", "applied, then 500", "applied, then torn",
        "page", "500", "503", "429", "400", "401",
    ]
    private static let refused = TransportError(
        reach: .notSent, cause: .connect, message: "Connection refused")
    private static let lost = TransportError(
        reach: .maybeSent, cause: .timeout, message: "Timed out")

    private static func answer(_ status: Int) -> Response {
        Response(status: .init(code: status), body: Array(#"{"error":"simulated"}"#.utf8))
    }
}
