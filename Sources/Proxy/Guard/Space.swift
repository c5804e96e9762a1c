/// A part of the URL space, with rules and a handler of its own.
enum Space: Sendable, Hashable {
    /// `/tables/…`: the protocol of the clients.
    case tables
    /// `/-/…`: the operator API and the dashboard.
    case operatorAPI(OperatorArea)
    /// Every other path: passed through to the backend.
    case other

    /// The parts of `/-/`.
    enum OperatorArea: Sendable, Hashable {
        /// Health, metrics and the OpenAPI document: no sign-in.
        case open
        /// The dashboard's files: no sign-in either.
        case page
        /// `POST /-/api/v1/session`: exchanges a one-time link, so it cannot need a sign-in.
        case signIn
        /// The rest of the operator API: a sign-in is required.
        case api
    }

    /// Classifies a path by its decoded segments, as the routes do. So an encoded spelling of a path
    /// (`/%2D/api/…`) is checked by the rules of its route.
    ///
    /// A path whose ``TargetPath/root`` is `tables` or `-` is never passed through.
    init(_ path: TargetPath, method: String) {
        switch path.root {
        case "tables": self = .tables
        case "-":
            let rest = path.segments.dropFirst()
            if rest.first != "api" {
                self = .operatorAPI(Self.health.contains(Array(rest)) ? .open : .page)
            } else if method == "POST", Array(rest) == ["api", "v1", "session"] {
                self = .operatorAPI(.signIn)
            } else {
                self = .operatorAPI(.api)
            }
        default: self = .other
        }
    }

    private static let health = [["livez"], ["readyz"], ["metrics"], ["openapi.json"]]
}
