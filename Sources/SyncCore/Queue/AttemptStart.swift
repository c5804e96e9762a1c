import TablesProtocol

/// A request about to be made, recorded before it is sent.
struct AttemptStart: Sendable {
    var method: String
    /// The request's path and query.
    var target: String
    var body: JSONText?
    /// The request's header fields, see ``RecordedFields``.
    var fields: [String] = []
}

/// How a request ended.
struct AttemptEnd: Sendable {
    var status: Int?
    /// Cut to ``StoreLimits/responseExcerptBytes`` when kept.
    var response: String?
    var error: String?
    /// How far a request got that had no answer.
    var reach: String?
    /// The answer's header fields, see ``RecordedFields``.
    var fields: [String] = []
}
