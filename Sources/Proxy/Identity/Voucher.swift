import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Asks the backend whether a token is somebody's: a list of the table that the client wants must be
/// refused without it and given with it. Both requests only read.
struct Voucher: Sendable {
    let backend: BackendAddress
    let transport: any HTTPTransport

    /// What the backend says to a token.
    enum Verdict: Sendable {
        /// It is somebody's.
        case good
        /// 401 with it.
        case refused
        /// The table is open to all, or says something else altogether: that proves nothing.
        case unproven
        /// The backend is away.
        case unreachable
    }

    /// Asks, in the client's own generation and with its own application key.
    func verdict(_ token: Token, _ table: TableName, of request: Request) async -> Verdict {
        do throws(TransportError) {
            let with = try await status(token, table, request)
            if with == 401 { return .refused }
            if [502, 503, 504].contains(with) { return .unreachable }
            guard (200..<300).contains(with) else { return .unproven }
            return try await status(nil, table, request) == 401 ? .good : .unproven
        } catch {
            return .unreachable
        }
    }

    private func status(
        _ token: Token?, _ table: TableName, _ request: Request
    ) async throws(TransportError) -> Int {
        var head = HTTPRequest(
            method: .get, scheme: backend.scheme, authority: backend.authority,
            path: "\(backend.prefix)/tables/\(table)?$top=1")
        head.headerFields[.accept] = "application/json"
        for name in Self.kept {
            head.headerFields[name] = request.head.headerFields[name]
        }
        if let token { head.headerFields[token.field.name] = token.field.value }
        return try await transport.send(Request(head: head)).head.status.code
    }

    private static let kept: [HTTPField.Name] = [
        .known("ZUMO-API-VERSION"), .known("X-ZUMO-VERSION"), .known("X-ZUMO-APPLICATION"),
    ]
}
