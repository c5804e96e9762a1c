import HTTPMessage
import HTTPTypes
import Synchronization
import TestSupport

/// The planted bugs that sit between a proxy and the backend.
final class TransportSabotage: Sendable {
    private let bug: Bug?
    private let base: any HTTPTransport
    private let random: SeededRandom
    private let held = Mutex<Request?>(nil)

    init(_ bug: Bug?, base: any HTTPTransport, random: SeededRandom) {
        (self.bug, self.base, self.random) = (bug, base, random)
    }

    /// The bug's answer to a request; nil when the request goes its way.
    func answer(_ request: Request) async throws(TransportError) -> Response? {
        switch bug {
        case .swallows where request.head.method == .post: return swallow(request)
        case .repeats where request.head.method == .patch:
            guard random.happens(0.3) else { return nil }
            let response = try await base.send(request)
            _ = try await base.send(unconditional(request))
            return response
        case .overtakes where request.head.method == .patch: return try await overtake(request)
        case .leavesOut where request.head.method == .get: return try await leaveOut(request)
        default: return nil
        }
    }

    private func swallow(_ request: Request) -> Response? {
        guard random.happens(0.2) else { return nil }
        return Self.json(.created, request.body)
    }

    private func overtake(_ request: Request) async throws(TransportError) -> Response? {
        let before = held.withLock { held in
            defer { held = nil }
            return held
        }
        guard let before else {
            guard random.happens(0.5), let path = request.head.path else { return nil }
            held.withLock { $0 = request }
            var look = Request.tables("GET", path)
            look.head.headerFields = request.head.headerFields
            look.head.headerFields[.ifMatch] = nil
            return try await base.send(look)
        }
        guard before.head.path == request.head.path else {
            _ = try await base.send(before)
            return nil
        }
        let response = try await base.send(request)
        _ = try await base.send(unconditional(before))
        return response
    }

    /// Takes the first row out of a page.
    private func leaveOut(_ request: Request) async throws(TransportError) -> Response? {
        guard random.happens(0.2) else { return nil }
        let response = try await base.send(request)
        let text = String(decoding: response.bytes ?? [], as: UTF8.self)
        guard text.hasPrefix("[{"), let cut = text.firstRange(of: "},{") else { return response }
        return Self.json(.ok, Array(("[" + text[text.index(cut.lowerBound, offsetBy: 2)...]).utf8))
    }

    private func unconditional(_ request: Request) -> Request {
        var request = request
        request.head.headerFields[.ifMatch] = nil
        return request
    }

    private static func json(_ status: HTTPResponse.Status, _ body: [UInt8]) -> Response {
        Response(
            status: status, headerFields: [.contentType: "application/json"], body: body)
    }
}
