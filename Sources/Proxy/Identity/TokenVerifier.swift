import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Asks the backend whether a token belongs to a user: a list of the table that the client wants must be
/// refused without the token and given with it. Both requests only read.
struct TokenVerifier: Sendable {
    let backend: BackendAddress
    let transport: any HTTPTransport
    let applicationKey: ApplicationKey

    /// The result for a token.
    enum Verdict: Sendable {
        /// It belongs to a user.
        case good
        /// The backend answers 401 to it.
        case refused
        /// The table needs no token, or the answer is another one; neither proves anything.
        case unproven
        /// The backend cannot be reached.
        case unreachable
    }

    /// Asks the backend in its generation. If that is not known, in the client's, and if that is refused
    /// with 400 in the others.
    /// - Parameters:
    ///   - client: the client's generation.
    ///   - backend: the backend's generation; nil if it is not known.
    func verdict(
        _ token: Token, _ table: TableName, client: Generation, backend: Generation?
    ) async -> Verdict {
        let others = Generation.allCases.filter { $0 != client }
        do throws(TransportError) {
            for generation in backend.map({ [$0] }) ?? [client] + others {
                let with = try await status(token, table, generation)
                if with == 400, backend == nil { continue }
                if with == 401 { return .refused }
                if [502, 503, 504].contains(with) { return .unreachable }
                guard (200..<300).contains(with) else { return .unproven }
                return try await status(nil, table, generation) == 401 ? .good : .unproven
            }
            return .unproven
        } catch {
            return .unreachable
        }
    }

    private func status(
        _ token: Token?, _ table: TableName, _ generation: Generation
    ) async throws(TransportError) -> Int {
        var head = HTTPRequest(
            method: .get, scheme: backend.scheme, authority: backend.authority,
            path: "\(backend.prefix)/tables/\(table)?$top=1")
        head.headerFields[.accept] = "application/json"
        Dialect.mark(&head.headerFields, as: generation, key: applicationKey.text)
        for field in token?.field.token(for: generation) ?? [] {
            head.headerFields[field.name] = field.value
        }
        return try await transport.send(Request(head: head)).head.status.code
    }
}
