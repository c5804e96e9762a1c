import HTTPMessage
import HTTPTypes

/// A handler made of two closures.
struct TestHandler: HTTPHandler, RequestHandler {
    var admission: @Sendable (Request) -> Admission = { _ in .accept(bodyLimitBytes: 16 << 20) }
    var answer: @Sendable (Request) -> Answer

    func admit(_ request: Request) -> Admission { admission(request) }
    func handle(_ request: Request) -> Answer { answer(request) }

    /// Answers with method, raw target, authority and header fields as lines, then the body.
    static let echo = TestHandler { request in
        var text = "\(request.head.method) \(request.head.path ?? "-")\n"
        text += "authority \(request.head.authority ?? "-")\n"
        for field in request.head.headerFields { text += "\(field.name): \(field.value)\n" }
        return .now(Response(status: .ok, body: Array(text.utf8) + request.body))
    }
}

extension Response {
    static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, body: Array(text.utf8))
    }
}
