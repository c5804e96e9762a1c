import HTTPTypes

/// Why a request is refused, in the words and the form that the flavour gives it.
struct Refusal: Error, Sendable, Hashable {
    /// What the body is.
    enum Form: Sendable, Hashable {
        /// The flavour's error body around the message.
        case error
        /// The message as it is, `text/html`.
        case text
        /// The message as it is, `text/html`, without any field of the server's own.
        case bare
        /// The message as it is, JSON.
        case json
        /// Express' own page around the message.
        case page
        /// Nothing.
        case empty
    }

    /// The status.
    var status: Int
    /// The sentence.
    var message: String
    /// What the body is.
    var form: Form
    /// The `Allow` field, where the method was refused.
    var allow: String?

    /// Refuses in the flavour's own error body.
    init(_ status: Int, _ message: String, as form: Form = .error) {
        self.status = status
        self.message = message
        self.form = form
    }
}
