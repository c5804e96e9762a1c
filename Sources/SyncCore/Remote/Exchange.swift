import HTTPMessage

/// One request and what came of it, as the record of an attempt needs it.
struct Exchange: Sendable {
    var answer: RemoteAnswer
    /// What came, whole; nil when nothing did.
    var response: Response?
    /// The status, when a response came.
    var status: Int?
    /// The beginning of the response body, at most ``SyncLimits/excerptBytes``.
    var excerpt: String?
    /// The answer's header fields, see ``RecordedFields``.
    var fields: [String]

    init(
        answer: RemoteAnswer, response: Response? = nil, status: Int? = nil,
        excerpt: String? = nil, fields: [String] = []
    ) {
        self.answer = answer
        self.response = response
        self.status = status
        self.excerpt = excerpt
        self.fields = fields
    }
}
