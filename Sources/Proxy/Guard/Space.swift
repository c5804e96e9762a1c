/// Which part of the URL space a request is for; each has its own rules and its own handlers.
enum Space: Sendable, Hashable {
    /// `/tables/…`: the protocol of the clients.
    case tables
    /// `/-/…`: Understudy's own.
    case operatorAPI(OperatorArea)
    /// Everything else: passed on to the backend.
    case other

    /// The parts of `/-/`.
    enum OperatorArea: Sendable, Hashable {
        /// Health, metrics and the OpenAPI document: no sign-in.
        case open
        /// The dashboard's files: no sign-in either.
        case page
        /// `POST /-/api/v1/session`: exchanges a one-time link, so it cannot need a sign-in.
        case signIn
        /// The operator API proper.
        case api
    }

    /// Classifies by the first decoded segments, as the routes do, so that an encoded spelling of a
    /// path (`/%2D/api/…`) is judged by the rules of what it reaches.
    ///
    /// `tables` and `-` count however they are spelled (``TargetPath/root``): such a path is never
    /// passed on.
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
