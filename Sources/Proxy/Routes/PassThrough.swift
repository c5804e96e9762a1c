import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Passes what is neither `/tables` nor `/-/` on to the backend and its answer back: custom APIs,
/// logins, push registrations.
struct PassThrough: Sendable {
    let backend: BackendAddress
    let transport: any HTTPTransport
    let homes: Homes
    let defaultGeneration: Generation
    let work: BackgroundWork

    /// Answers a request that the guard let through.
    func handle(_ request: Request) -> Answer {
        let outgoing = Request(head: outgoingHead(request), body: request.body)
        return .later { reply in
            work.start {
                do throws(TransportError) {
                    let response = try await transport.send(outgoing)
                    homes.home(for: request)?.engine.nudge(.reachable)
                    reply(incoming(response, request))
                } catch {
                    reply(unreachable(request, error))
                }
            }
        }
    }

    /// The head as the backend gets it: its own authority, the raw target behind its path, and
    /// nothing that concerns only the connection or this proxy.
    private func outgoingHead(_ request: Request) -> HTTPRequest {
        var head = request.head
        head.scheme = backend.scheme
        head.authority = backend.authority
        head.path = backend.prefix + (request.head.path ?? "/")
        head.headerFields = Self.endToEnd(head.headerFields)
        head.headerFields[.understudySession] = nil
        if let cookies = head.headerFields[.cookie] {
            let own = OperatorAccess.cookieName(request)
            let others = cookies.split(separator: ";").map { $0.trimming { $0 == " " } }
                .filter { !$0.hasPrefix("\(own)=") }
            head.headerFields[.cookie] = others.isEmpty ? nil : others.joined(separator: "; ")
        }
        return head
    }

    private func incoming(_ response: Response, _ request: Request) -> Response {
        var response = response
        response.head.headerFields = Self.endToEnd(response.head.headerFields)
        // An address of the backend itself becomes one of this proxy, or the client would leave it.
        if let location = response.head.headerFields[.location],
            location.hasPrefix("\(backend)/"), let host = request.head.authority
        {
            response.head.headerFields[.location] =
                "http://\(host)" + location.dropFirst("\(backend)".count)
        }
        return response
    }

    private func unreachable(_ request: Request, _ error: TransportError) -> Response {
        let client = ClientFamily.detect(request, default: defaultGeneration)
        return TablesAnswer(client: client).render(
            error: .unavailable(
                "The backend cannot be reached: \(error.message)",
                retryAfterSeconds: Limits.retryAfterSeconds))
    }

    /// The fields without those that belong to one connection (RFC 9110, section 7.6.1).
    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        let named = (fields[.connection] ?? "").split(separator: ",").map {
            $0.trimming { $0 == " " }.lowercased()
        }
        return HTTPFields(
            fields.filter { field in
                let name = field.name.canonicalName
                return !hopByHop.contains(name) && !named.contains(name)
            })
    }

    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length",
        "host",
    ]
}
