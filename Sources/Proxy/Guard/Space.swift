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
        /// The dashboard's files, health, metrics and the OpenAPI document: no sign-in.
        case open
        /// `POST /-/api/v1/session`: exchanges a one-time link, so it cannot need a sign-in.
        case signIn
        /// The operator API proper.
        case api
    }

    /// Classifies by the first decoded segments, as the routes do, so that an encoded spelling of a
    /// path (`/%2D/api/…`) is judged by the rules of what it reaches.
    ///
    /// `tables` counts in any case, and behind empty segments too: such a path is never passed on.
    init(_ path: TargetPath, method: String) {
        if path.segments.first(where: { !$0.isEmpty })?.lowercased() == "tables" {
            self = .tables
            return
        }
        switch path.segments.first {
        case "-":
            let rest = path.segments.dropFirst()
            if rest.first != "api" {
                self = .operatorAPI(.open)
            } else if method == "POST", Array(rest) == ["api", "v1", "session"] {
                self = .operatorAPI(.signIn)
            } else {
                self = .operatorAPI(.api)
            }
        default: self = .other
        }
    }
}
