import HTTPMessage
import HTTPTypes

/// One method on one path of `/-/`.
struct OperatorRoute: Sendable {
    /// How a route answers.
    enum Action: Sendable {
        /// At once, on the server's thread.
        case now(@Sendable (OperatorAPI, OperatorCall) throws(Problem) -> Response)
        /// In a task, while the connection is suspended. A server that stops does not wait for it.
        case later(@Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response)
        /// The same for what changes something here: a server that stops waits for its true answer, and
        /// one that has stopped does not begin it.
        case change(@Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response)
    }

    let method: HTTPRequest.Method
    /// The path as openapi.json writes it, with `{name}` for one segment.
    let pattern: String
    let action: Action

    /// A route that answers at once.
    static func now(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (OperatorAPI, OperatorCall) throws(Problem) -> Response
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .now(action))
    }

    /// A route that answers later.
    static func later(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .later(action))
    }

    /// A route that changes something, and answers later.
    static func change(
        _ method: HTTPRequest.Method, _ pattern: String,
        _ action: @escaping @Sendable (OperatorAPI, OperatorCall) async throws(Problem) -> Response
    ) -> OperatorRoute {
        OperatorRoute(method: method, pattern: pattern, action: .change(action))
    }

    /// The path parameters if `segments` fit the pattern.
    func match(_ segments: [String]) -> [String: String]? {
        let parts = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            if part.first == "{" {
                guard !segment.isEmpty else { return nil }
                parameters[String(part.dropFirst().dropLast())] = segment
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}
