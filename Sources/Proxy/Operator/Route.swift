import HTTPMessage
package import HTTPTypes
package import TablesProtocol

/// One method on one path of `/-/`, declared once: requests are checked and read by it, the commands ask by it,
/// and openapi.json is made of it. `Answer` is the type of what it answers; `Response` for what is no JSON.
package struct Route<Answer: Sendable>: Sendable {
    let description: RouteDescription

    /// - Parameters:
    ///   - path: below `/-/api/v1`, with `{name}` for one segment; whole for a page.
    ///   - id: its name in openapi.json.
    ///   - summary: what it is for.
    ///   - details: what else is to be known, as sentences.
    ///   - sentence: what the answer is.
    ///   - names: what the segments of the path are.
    ///   - query: the parameters of the query, without the identity.
    ///   - body: the members of the body.
    ///   - bodyName: what openapi.json calls the body; nil for a body that no other route has.
    ///   - needsBody: whether there must be a body, also if all of its members may be left out.
    ///   - status: that of a success.
    ///   - location: what `Location` names, of what was made.
    ///   - also: what it answers besides, by status: a sentence, or the name of an answer in openapi.json.
    ///   - headers: the header fields that it reads.
    ///   - media: the type of an answer that is no JSON.
    ///   - example: such an answer.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ id: String, _ tag: RouteDescription.Tag,
        _ summary: String, details: String? = nil, answers sentence: String,
        of scope: RouteDescription.Scope = .store, names: [String: String] = [:],
        query: [any RequestField] = [], body: [any RequestField] = [], bodyName: String? = nil,
        needsBody: Bool? = nil, status: HTTPResponse.Status = .ok, location: String? = nil,
        also: [Int: String] = [:], headers: [any RequestField] = [],
        media: String = "application/json", example: String? = nil
    ) {
        let fields = (scope == .store ? [Fields.identity] : []) + query
        let needsBody = needsBody ?? body.contains { $0.description.isRequired }
        description = RouteDescription(
            method: method, path: scope == .page ? path : RouteDescription.api + path, id: id,
            tag: tag, summary: summary, details: details, sentence: sentence, scope: scope,
            names: names,
            request: RequestDescription(
                parameters: fields.map(\.description), body: .object(body, name: bodyName),
                needsBody: needsBody),
            answer: { Answer.self as? any Decodable.Type }, status: status, location: location,
            also: also, headers: headers, media: media, example: example)
    }

    /// A request of the route.
    /// - Parameter places: the segments of the path that have names, in their order.
    package func callAsFunction(
        _ places: String..., query: [JSONValue.Member?] = [], body: [JSONValue.Member?] = []
    ) -> RouteRequest<Answer> { self(places, query: query, body: body) }

    package func callAsFunction(
        _ places: [String], query: [JSONValue.Member?] = [], body: [JSONValue.Member?] = []
    ) -> RouteRequest<Answer> {
        var places = places[...]
        let segments = description.segments.map { segment in
            segment.hasPrefix("{") ? PercentCoding.encode(places.popFirst() ?? "") : segment
        }
        return RouteRequest(
            method: description.method,
            path: String(
                segments.map { "/\($0)" }.joined().dropFirst(RouteDescription.api.count)),
            query: query.compactMap(\.self), body: body.compactMap(\.self))
    }
}

/// A request of a route, as a command makes it.
package struct RouteRequest<Answer: Sendable>: Sendable {
    package let method: HTTPRequest.Method
    /// Below `/-/api/v1`.
    package let path: String
    package var query: [JSONValue.Member]
    package let body: [JSONValue.Member]

    /// The path with the query, with `identity` added to it.
    package func target(identity: String?) -> String {
        let all = query + [Fields.identity(identity)].compactMap(\.self)
        let pairs = all.map { pair in
            "\(pair.name)=\(PercentCoding.encode(pair.value.string ?? pair.value.text))"
        }
        return RouteDescription.api + path
            + (pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))")
    }
}

/// What is declared of a route with any type of answer.
package struct RouteDescription: Sendable {
    /// What it is about, in openapi.json.
    enum Tag: String {
        case dashboard, health, session, status, sync, tables, operations, conflicts, history
    }

    /// What it is asked of.
    enum Scope {
        /// The program, by anyone and by browsers and probes, which add parameters of their own. They are not
        /// checked.
        case page
        /// The program, by the browser that has a one-time link.
        case link
        /// The program, by the operator's token alone.
        case token
        /// The program, by the operator.
        case program
        /// The store of the identity that the query names, by the operator.
        case store
    }

    static let api = "/-/api/v1"

    let method: HTTPRequest.Method
    /// The path as in openapi.json, with `{name}` for one segment.
    let path: String
    let id: String
    let tag: Tag
    let summary: String
    let details: String?
    let sentence: String
    let scope: Scope
    let names: [String: String]
    let request: RequestDescription
    /// The type of the answer; nil if it is no JSON.
    let answer: @Sendable () -> (any Decodable.Type)?
    let status: HTTPResponse.Status
    let location: String?
    let also: [Int: String]
    let headers: [any RequestField]
    let media: String
    let example: String?

    var segments: [String] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }
}
