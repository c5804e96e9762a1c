import HTTPMessage
import HTTPTypes

/// Serves requests on tables with what is planned to go wrong.
struct FaultyService: Sendable {
    let service: TableService
    let rules: BackendRules

    /// Serves a request.
    func serve(_ call: Call, _ fault: FaultKind?) -> Response {
        switch fault {
        case nil, .latency: return service.serve(call)
        case .status(let status, let retryAfter, let applies):
            if applies { _ = service.serve(call) }
            return refused(call, status, retryAfter)
        case .drop(let applies):
            if applies { _ = service.serve(call) }
            return Response.torn(HTTPResponse(status: .ok), [])
        case .duplicate(let answersSecond):
            let first = service.serve(call)
            let second = service.serve(call)
            return answersSecond ? second : first
        case .torn:
            let whole = service.serve(call)
            let bytes = whole.bytes ?? []
            return Response.torn(whole.head, Array(bytes.prefix(bytes.count / 2)))
        case .portal:
            return Response(
                status: .ok, headerFields: [.contentType: "text/html"],
                body: Array(Self.portalPage.utf8))
        case .pretend: return service.serve(call, keeping: false)
        }
    }

    private func refused(_ call: Call, _ status: Int, _ retryAfter: String?) -> Response {
        let message = HTTPResponse.Status(code: status).reasonPhrase
        var response = rules.refused(call, Refusal(status, message))
        if let retryAfter { response.head.headerFields[.retryAfter] = retryAfter }
        return response
    }

    private static let portalPage = """
        <!DOCTYPE html><html><head><title>Welcome</title></head>
        <body><form action="/login">Please accept the terms of this network.</form></body></html>
        """
}

extension Response {
    /// A response whose body breaks off after these bytes; with none, a connection that is closed
    /// without an answer.
    static func torn(_ head: HTTPResponse, _ bytes: [UInt8]) -> Response {
        let stream = ByteStream(capacityBytes: max(bytes.count, 1))
        stream.write(bytes)
        stream.fail()
        return Response(head: head, stream: stream)
    }
}
