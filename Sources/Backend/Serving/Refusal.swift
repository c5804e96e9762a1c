import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Why a request is refused, in the words and the form that the flavour gives it.
package struct Refusal: Error, Sendable, Hashable {
    /// The kind of the body.
    package enum Form: Sendable, Hashable {
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
    /// The kind of the body.
    var form: Form
    /// The `Allow` field, where the method was refused.
    var allow: String?
    /// After how many seconds to send the request again, where the backend is busy.
    var retryAfterSeconds: Int?

    /// Refuses in the flavour's own error body.
    init(_ status: Int, _ message: String, as form: Form = .error) {
        self.status = status
        self.message = message
        self.form = form
    }
}

extension TableRequest {
    /// No such path.
    var noRoute: Refusal { .noRoute(call, profile) }

    /// No such table.
    func noTable(_ name: TableName) -> Refusal {
        switch profile.errors {
        case .codeAndError: Refusal(404, "Table '\(name)' does not exist.")
        case .error where profile.isNode: noRoute
        case .error, .message, .problem: Refusal(404, "The table '\(name)' does not exist")
        case .empty: Refusal(404, "", as: .empty)
        }
    }

    /// The table's options forbid it.
    func disabled(_ operation: TableOptions.Operation) -> Refusal {
        let sentence = "Method \(operation.rawValue) is not allowed"
        return profile.isNode
            ? Refusal(405, sentence, as: .text) : Refusal(405, sentence, as: .empty)
    }

    /// The method is not one of the route.
    func notAllowed(allowed: String) -> Refusal {
        if profile.isNode {
            return call.method == .head
                ? Refusal(500, "Cannot read properties of undefined") : noRoute
        }
        var refusal = Refusal(405, "Method Not Allowed", as: .empty)
        refusal.allow = allowed
        return refusal
    }

    /// The table wants a token.
    var signIn: Refusal {
        profile.isNode
            ? Refusal(401, "You must be logged in to use this application", as: .text)
            : Refusal(401, "Unauthorized")
    }
}

extension Refusal {
    /// Every attempt to write was overtaken by another writer of the same item.
    static let tooManyWriters = Refusal(503, "Others write this item all the time. Try again.")

    /// A write would give a table, or a row, more columns than it can have.
    static let tooManyColumns = Refusal(
        400, "A table has at most \(Limits.columnsOfTable) columns. Send fewer new ones.")

    /// A write would give a table a column with a longer name than SQL Server takes.
    static let longColumnName = Refusal(
        400,
        "The name of a column has at most \(Limits.columnNameCharacters) characters. Send a"
            + " shorter one.")

    /// A body that is compressed, or in another charset: its bytes are no JSON.
    static let encodedBody = Refusal(
        415, "Send the body as JSON in UTF-8, without a Content-Encoding.")

    /// An error of the backend itself. Its text may name hosts or hold what is stored, so the answer does
    /// not have it; ``TablesBackend/onFailure`` receives it.
    static let failed = Refusal(
        500, "The backend failed. Ask its operator to look into the reason.")

    /// A token that is not accepted.
    static func badToken(_ profile: Profile) -> Refusal {
        profile.isNode
            ? Refusal(401, #"{"name":"JsonWebTokenError"}"#, as: .json)
            : Refusal(401, "Unauthorized")
    }

    /// No such path: Express' own page on the Node server.
    static func noRoute(_ call: Call, _ profile: Profile) -> Refusal {
        profile.isNode
            ? Refusal(404, "Cannot \(call.method.rawValue) \(call.request.path)", as: .page)
            : Refusal(404, "Not Found")
    }
}

extension TableOptions.Operation {
    /// The operation that a method asks for on a table or an item; nil for any other method.
    init?(_ method: HTTPRequest.Method, onItem: Bool) {
        switch method {
        case .get, .head: self = .read
        case .post: self = onItem ? .undelete : .insert
        case .patch, .put: self = .update
        case .delete: self = .delete
        default: return nil
        }
    }
}
