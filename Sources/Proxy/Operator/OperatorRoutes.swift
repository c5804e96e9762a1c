import HTTPMessage
import HTTPTypes
import SyncCore

/// A route with what answers it.
struct OperatorRoute: Sendable {
    /// Answers a call at once, on the server's thread.
    typealias Handler = @Sendable (OperatorCall) throws -> Response
    /// Answers a call in a task.
    typealias LaterHandler = @Sendable (OperatorCall) async throws -> Response

    /// How a route answers.
    enum Action: Sendable {
        /// At once, on the server's thread.
        case now(Handler)
        /// In a task, while the connection is suspended. A stop of the server does not wait for it.
        case later(LaterHandler)
        /// The same for a change in a store: a stop of the server waits for the answer. After the stop it
        /// does not begin.
        case change(LaterHandler)
    }

    let description: RouteDescription
    let action: Action

    /// The path parameters if `segments` match the path; nil otherwise.
    func match(_ segments: [String]) -> [String: String]? {
        let parts = description.segments
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

/// An answer with a status and a place of its own.
struct Answered<Answer: Encodable> {
    let response: Response

    init(_ response: Response) { self.response = response }

    /// - Parameter location: where what was made or begun is, for 201 and 202.
    init(_ answer: Answer, _ status: HTTPResponse.Status = .ok, location: String? = nil) {
        response = .json(answer, status: status, location: location)
    }
}

// Routes with functions that answer them. What a function throws that is no ``Problem`` is an error of a store.
extension OperatorRoute {
    static func now<Answer>(_ route: Route<Answer>, _ answer: @escaping Handler) -> Self {
        Self(description: route.description, action: .now(answer))
    }

    static func now<Answer: Encodable>(
        _ route: Route<Answer>, _ answer: @escaping @Sendable (OperatorCall) throws -> Answer
    ) -> Self { now(route) { .json(try answer($0)) } }

    static func now<Answer>(
        _ route: Route<Answer>,
        _ answer: @escaping @Sendable (OperatorCall) throws -> Answered<Answer>
    ) -> Self { now(route) { try answer($0).response } }

    /// A route that changes a store, unless it reads or only asks the backend.
    private static func later<Answer>(
        _ route: Route<Answer>, isChange: Bool?, _ answer: @escaping LaterHandler
    ) -> Self {
        let isChange = isChange ?? (route.description.method != .get)
        return Self(
            description: route.description, action: isChange ? .change(answer) : .later(answer))
    }

    static func later(_ route: Route<Response>, _ answer: @escaping LaterHandler) -> Self {
        later(route, isChange: nil, answer)
    }

    static func later<Answer: Encodable>(
        _ route: Route<Answer>, isChange: Bool? = nil,
        _ answer: @escaping @Sendable (OperatorCall) async throws -> Answer
    ) -> Self { later(route, isChange: isChange) { .json(try await answer($0)) } }

    static func later<Answer>(
        _ route: Route<Answer>, isChange: Bool? = nil,
        _ answer: @escaping @Sendable (OperatorCall) async throws -> Answered<Answer>
    ) -> Self { later(route, isChange: isChange) { try await answer($0).response } }

    static func later<Answer: Encodable>(
        _ route: Route<Answer>, _ tenants: TenantRegistry, isChange: Bool? = nil,
        _ answer: @escaping @Sendable (Tenant, OperatorCall) async throws -> Answer
    ) -> Self {
        later(route, isChange: isChange) {
            .json(try await answer(try await tenants.tenant(of: $0), $0))
        }
    }

    static func later<Answer>(
        _ route: Route<Answer>, _ tenants: TenantRegistry, isChange: Bool? = nil,
        _ answer: @escaping @Sendable (Tenant, OperatorCall) async throws -> Answered<Answer>
    ) -> Self {
        later(route, isChange: isChange) {
            try await answer(try await tenants.tenant(of: $0), $0).response
        }
    }
}

extension TenantRegistry {
    /// The tenant of the identity that a call names. Its store is opened, and stays open while the tenant is used.
    func tenant(of call: OperatorCall) async throws -> Tenant { try await open(identity(of: call)) }

    /// The identity that a call names, by default `anonymous`; throws 404 if it has no store.
    func identity(of call: OperatorCall) throws(Problem) -> String {
        let key = call.query[Fields.identity] ?? Identity.anonymousKey
        guard knows(key) else { throw .notFound("There is no identity \"\(key)\".") }
        return key
    }
}
