import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Answerer {
    /// One row as the whole body; `showing` are system properties that need not be asked for.
    func item(
        _ status: Int, _ row: Row, select: [String]? = nil, showing: Set<SystemProperty> = [],
        isEcho: Bool = false
    ) -> Response {
        var writer = rowWriter
        writer.asked.formUnion(showing)
        writer.fillsColumns = !isEcho
        let names = select.map { Set($0.map { $0.lowercased() }) }
        var response = json(status, writer.bytes(row, select: names))
        if names?.contains("__version") == true { writer.asked.insert(.version) }
        addValidators(&response, row, writer)
        return response
    }

    /// The row that is there, for a client whose write does not fit it.
    func conflict(_ status: Int, _ row: Row) -> Response {
        var response = json(status, rowWriter.whole(row))
        addValidators(&response, row, nil)
        return response
    }

    /// No body, but the item's validators.
    func bodiless(_ status: Int, _ row: Row) -> Response {
        var response = empty(status)
        addValidators(&response, row, rowWriter)
        return response
    }

    /// A list in the envelope of the generation.
    func list(_ page: RowPage) -> Response {
        let writer = rowWriter
        let array = RowWriter.list(page.rows.map { writer.bytes($0, select: page.select) })
        if hasItemsEnvelope {
            let count = page.count.map(String.init) ?? "null"
            let next = nextLink(page).map { JSONText.string($0).text } ?? "null"
            return json(
                200,
                "{\"items\":".utf8 + array + ",\"count\":\(count),\"nextLink\":\(next)}".utf8)
        }
        let body =
            page.count.map { "{\"results\":".utf8 + array + ",\"count\":\($0)}".utf8 } ?? array
        var response = json(200, body)
        if let link = linkField(page) { response.head.headerFields.set("Link", link) }
        return response
    }

    /// JSON bytes.
    func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        var fields = commonFields
        fields[.contentType] =
            profile.generation == .mobileServices
            ? "application/json" : "application/json; charset=utf-8"
        return Response(status: .init(code: status), headerFields: fields, body: bytes)
    }

    /// No body.
    func empty(_ status: Int) -> Response {
        var fields = commonFields
        if profile.generation == .mobileServices { fields[.contentType] = "application/json" }
        return Response(status: .init(code: status), headerFields: fields)
    }

    /// A refusal in the flavour's shape.
    func refused(_ refusal: Refusal) -> Response {
        var response = body(refusal)
        if let allow = refusal.allow { response.head.headerFields[.allow] = allow }
        if let seconds = refusal.retryAfterSeconds {
            response.head.headerFields[.retryAfter] = String(seconds)
        }
        return taggedByExpress(response)
    }

    /// The database cannot answer now. The error may name hosts, so its text is not in the answer.
    func unavailable() -> Response {
        var response = refused(Refusal(503, "The database cannot answer now. Try again."))
        response.head.headerFields[.retryAfter] = "\(Limits.retrySeconds)"
        return response
    }

    private func body(_ refusal: Refusal) -> Response {
        let message = JSONText.string(refusal.message).text
        switch (refusal.form, profile.errors) {
        case (.json, _): return json(refusal.status, Array(refusal.message.utf8))
        case (.bare, _):
            return Response(
                status: .init(code: refusal.status),
                headerFields: [.contentType: "text/html; charset=utf-8"],
                body: Array(refusal.message.utf8))
        case (.text, _): return html(refusal.status, refusal.message)
        case (.page, _):
            var response = html(refusal.status, Self.page(refusal.message))
            response.head.headerFields[.contentSecurityPolicy] = "default-src 'none'"
            response.head.headerFields[.xContentTypeOptions] = "nosniff"
            return response
        case (.empty, _), (.error, .empty): return empty(refusal.status)
        case (.error, .error): return json(refusal.status, Array("{\"error\":\(message)}".utf8))
        case (.error, .codeAndError):
            let text = JSONText.string("Error: \(refusal.message)").text
            return json(
                refusal.status, Array("{\"code\":\(refusal.status),\"error\":\(text)}".utf8))
        case (.error, .message):
            return json(refusal.status, Array("{\"message\":\(message)}".utf8))
        case (.error, .problem):
            let title = HTTPResponse.Status(code: refusal.status).reasonPhrase
            let text =
                "{\"title\":\(JSONText.string(title).text),\"status\":\(refusal.status),"
                + "\"detail\":\(message)}"
            var response = json(refusal.status, Array(text.utf8))
            response.head.headerFields[.contentType] = "application/problem+json; charset=utf-8"
            return response
        }
    }

    private func html(_ status: Int, _ text: String) -> Response {
        var fields = commonFields
        fields[.contentType] = "text/html; charset=utf-8"
        return Response(
            status: .init(code: status), headerFields: fields, body: Array(text.utf8))
    }

    /// The page that Express makes of an error.
    private static func page(_ message: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <title>Error</title>
        </head>
        <body>
        <pre>\(message)</pre>
        </body>
        </html>

        """
    }
}
