import HTTPMessage
import HTTPTypes

/// The options of a backend with the rules of their flavour: what each of its parts has.
struct BackendRules: Sendable {
    let options: BackendOptions
    let profile: Profile

    init(_ options: BackendOptions) { (self.options, profile) = (options, Profile(options)) }

    var verifiesTokens: Bool { options.tokens == .verified }

    /// Makes the writer of the response to a request.
    /// - Parameter table: the table that it reached; nil for none.
    func answerer(_ call: Call, _ table: StoredTable? = nil) -> Answerer {
        Answerer(call: call, profile: profile, options: options, table: table)
    }

    /// The answer to a request that is refused before it reaches a table.
    func refused(_ call: Call, _ refusal: Refusal) -> Response {
        answerer(call).refused(refusal)
    }

    /// The answer to a request that the storage does not answer now.
    func unavailable(_ call: Call) -> Response { readable(answerer(call).unavailable(), call) }

    /// The answer 429 to a request that came too soon.
    func busy(_ call: Call, _ message: String, _ retryAfterSeconds: Int) -> Response {
        var refusal = Refusal(429, message)
        refusal.retryAfterSeconds = retryAfterSeconds
        return readable(refused(call, refusal), call)
    }

    /// The same response for a page of another origin, where that may read it.
    func readable(_ response: Response, _ call: Call) -> Response {
        var response = response
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    /// Whether limits of requests count a request. A preflight and the backend's own paths need no permit.
    func needsPermit(_ call: Call) -> Bool {
        call.method != .options && !call.isControl && HealthSubject(call) == nil
    }
}
