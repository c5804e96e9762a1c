import HTTPMessage
import HTTPTypes
import Synchronization

@testable import Simulator

/// The planted bugs between a proxy and the backend.
struct TransportBug {
    let bug: Bug
    let base: any HTTPTransport
    let random: SeededRandom
    /// The request that is acknowledged and not yet sent on.
    let held: Held

    /// Holds one request.
    final class Held: Sendable {
        private let request = Mutex<Request?>(nil)

        func put(_ new: Request) { request.withLock { $0 = new } }

        func take() -> Request? {
            request.withLock { request in
                defer { request = nil }
                return request
            }
        }
    }

    /// The bug's answer to a request; nil to pass the request on.
    func answer(_ request: Request) async throws(TransportError) -> Response? {
        let isUpdate = request.head.method == .patch || request.head.method == .put
        switch bug {
        case .dropsInsert where request.head.method == .post: return swallow(request)
        case .delaysInsert where request.head.method == .post: return try await delay(request)
        case .repeatsUpdate where isUpdate:
            guard random.happens(0.3) else { return nil }
            let response = try await base.send(request)
            _ = try await base.send(unconditional(request))
            return response
        case .reordersUpdates where isUpdate: return try await overtake(request)
        case .omitsRow where request.head.method == .get: return try await leaveOut(request)
        default: return nil
        }
    }

    private func swallow(_ request: Request) -> Response? {
        guard random.happens(0.2) else { return nil }
        return Self.json(.created, request.body)
    }

    /// Acknowledges an insert, and sends it after the next one.
    private func delay(_ request: Request) async throws(TransportError) -> Response? {
        if let before = held.take() {
            let response = try await base.send(request)
            _ = try await base.send(before)
            return response
        }
        guard random.happens(0.5) else { return nil }
        held.put(request)
        return Self.json(.created, request.body)
    }

    private func overtake(_ request: Request) async throws(TransportError) -> Response? {
        guard let before = held.take() else {
            guard random.happens(0.5), let path = request.head.path else { return nil }
            held.put(request)
            var read = Request.tables("GET", path)
            read.head.headerFields = request.head.headerFields
            read.head.headerFields[.ifMatch] = nil
            return try await base.send(read)
        }
        guard before.head.path == request.head.path else {
            _ = try await base.send(before)
            return nil
        }
        let response = try await base.send(request)
        _ = try await base.send(unconditional(before))
        return response
    }

    /// Removes the first row from a page, which is a list or contains one.
    private func leaveOut(_ request: Request) async throws(TransportError) -> Response? {
        guard random.happens(0.2) else { return nil }
        let response = try await base.send(request)
        let text = String(decoding: response.bytes ?? [], as: UTF8.self)
        guard let list = text.firstRange(of: "[{"),
            let cut = text[list.upperBound...].firstRange(of: "},{")
        else { return response }
        let before = text[..<text.index(after: list.lowerBound)]
        let after = text[text.index(cut.lowerBound, offsetBy: 2)...]
        return Self.json(.ok, Array((before + after).utf8))
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
