public import TablesProtocol

/// One request made for an operation.
public struct AttemptRecord: Sendable, Hashable {
    /// Counts from 1.
    public var number: Int
    /// When it began.
    public var startedAt: Instant
    /// When its outcome was committed; nil while it is under way or when the process died.
    public var endedAt: Instant?
    /// The request's method.
    public var method: String
    /// The request's path and query.
    public var target: String
    /// The request's body as sent.
    public var requestBody: JSONText?
    /// The request's header fields, `Name: value`, secrets left out.
    public var requestFields: [String]
    /// The status; nil when no answer came.
    public var status: Int?
    /// The beginning of the answer's body, at most ``StoreLimits/responseExcerptBytes``.
    public var responseExcerpt: String?
    /// The answer's header fields, `Name: value`, secrets left out.
    public var responseFields: [String]
    /// The state that the operation got by it.
    public var outcome: String
    /// What went wrong, in plain words.
    public var error: String?
}
