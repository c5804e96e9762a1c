import HTTPTypes

/// A request's head after it passed the wire rules.
struct RequestHead: Sendable {
    /// How the body is delimited.
    enum Framing: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
    }
    /// The head as handlers see it: raw target in `path`, Host in `authority`.
    var request: HTTPRequest
    var framing: Framing
    /// The client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool
}
