import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A request that the backend answers, with how it is passed on, and the answers of this program in its place.
struct ForwardedRequest: Sendable {
    var request: Request
    let client: ClientFamily
    /// The path of the client's capability address; empty without one.
    var base = ""
    /// Whether the application key may be added. It is not for a caller that may not use `/tables`.
    var addsKey = true
    /// Whether a page in the answer gets a unique origin.
    var isSandboxed = true
    /// Whether it may be a call of a custom API that changes rows.
    var mayChangeRows = false
    /// Whether it is a request for a table that the store does not answer.
    var isOfTable = false
    /// The item of a read by id: a success without its row is no answer.
    var itemID: ItemID?

    /// Whether it changes nothing at the backend.
    var onlyReads: Bool { [.get, .head, .options].contains(request.head.method) }

    var token: Token? { Token(request.head.headerFields, generation: client.generation) }

    /// The lowercase segments of its path.
    var segments: [String] { request.path.split(separator: "/").map { $0.lowercased() } }

    func refused(_ error: TablesError) -> Response {
        // The rest of the body is not read.
        request.bodyStream?.cancel()
        return TablesAnswer(client: client).render(error: error)
    }

    func unavailable(_ sentence: String) -> Response {
        refused(.unavailable(sentence, retryAfterSeconds: Limits.retryAfterSeconds))
    }

    func badGateway(_ sentence: String) -> Response {
        refused(.refusedByBackend(status: 502, sentence))
    }

    /// The answer where none came from the backend. A client repeats a 503 with `Retry-After`, so a request
    /// that the backend may have acted on gets 502, and so does one whose answer is too long each time.
    func unanswered(_ error: TransportError) -> Response {
        if error.reach == .maybeSent, !onlyReads {
            return badGateway(
                "The backend's answer to the request did not come (\(error.message)). Look whether "
                    + "it was done before you send it again.")
        }
        if error.reach == .maybeSent, error.cause == .tooLarge {
            return badGateway("The backend's answer cannot be passed on: \(error.message)")
        }
        return unavailable("The backend cannot be reached: \(error.message)")
    }
}
