import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Reads a response as an answer. The kind of request decides which 2xx bodies are valid. Every other
/// status means the same for all requests.
struct AnswerReader {
    var generation: Generation
    var now: Instant

    /// Reads the answer to a write: its 2xx body is one row or empty.
    func write(_ response: Response) -> RemoteAnswer {
        let status = response.head.status.code
        guard (200..<300).contains(status) else { return refusal(response) }
        let body = response.jsonBytes
        if body.allSatisfy(Self.isSpace) { return .empty }
        guard var row = row(response) else { return unusable(response) }
        row.sharesColumns = response.sharesColumns
        return .row(row)
    }

    /// Reads the answer to a list.
    func list(_ response: Response) -> RemoteAnswer {
        let status = response.head.status.code
        guard (200..<300).contains(status) else { return refusal(response) }
        let page = ListBody.parse(
            response.jsonBytes, generation: generation, sharesColumns: response.sharesColumns)
        guard let page else { return unusable(response) }
        var whole = page
        whole.hasNext = page.hasNext || response.head.headerFields.linksToNext
        whole.sentAt = response.head.headerFields[.date].flatMap { Instant(httpDate: $0) }
        return .rows(whole)
    }

    /// Reads a response whose status is not 2xx.
    private func refusal(_ response: Response) -> RemoteAnswer {
        let status = response.head.status.code
        // 1. Redirects and HTML pages may come from something between us and the backend, so they are no
        //    verdict.
        if (300..<400).contains(status) || status < 200 {
            return .unusable(status: status, .redirect)
        }
        // 2. "Not now" may come from any server on the way, in any form.
        switch status {
        case 429, 502, 503, 504:
            let wait = RetryAfter.parse(response.head.headerFields[.retryAfter], now: now)
            return .unavailable(status: status, retryAfter: wait)
        case 408, 500...: return .failed(status: status, text: text(response))
        case 401: return .unauthorized
        default: break
        }
        if looksLikePage(response) { return .unusable(status: status, .html) }
        // 3. A refused protocol version says nothing about the operation.
        if status == 400, text(response).lowercased().contains("zumo-api-version") {
            return .unusable(status: status, .otherVersion)
        }
        // 4. Everything else comes from the backend itself.
        switch status {
        case 404, 410: return .missing(status: status, text: text(response))
        case 409, 412:
            let row = row(response)
            return .conflict(status: status, row, text: row == nil ? text(response) : "")
        default: return .rejected(status: status, text: text(response))
        }
    }

    private func unusable(_ response: Response) -> RemoteAnswer {
        let status = response.head.status.code
        if looksLikePage(response) { return .unusable(status: status, .html) }
        let isJSON = (try? JSONText(validating: response.jsonBytes)) != nil
        return .unusable(status: status, isJSON ? .unexpectedShape : .notJSON)
    }

    private func row(_ response: Response) -> RemoteRow? {
        guard let object = try? Columns(parsing: response.jsonBytes) else { return nil }
        let etag = response.head.headerFields[.eTag].flatMap { ETag.unquote($0) }
        return RemoteRow(object, generation: generation, etag: etag)
    }

    /// The backend's message: the `error` or `message` of its JSON object, else the beginning of the body.
    private func text(_ response: Response) -> String {
        let bytes = response.jsonBytes
        if let object = try? Columns(parsing: bytes) {
            for name in ["error", "message", "detail", "title", "description"] {
                if let text = object[name]?.string { return Self.cut(text) }
            }
        }
        if looksLikePage(response) { return "a page for people, not an answer of /tables" }
        return Self.cut(String(decoding: bytes, as: UTF8.self))
    }

    private func looksLikePage(_ response: Response) -> Bool {
        if response.head.headerFields[.contentType]?.lowercased().contains("html") == true {
            return true
        }
        return response.jsonBytes.first { !Self.isSpace($0) } == UInt8(ascii: "<")
    }

    private static func cut(_ text: String) -> String {
        String(text.prefix(SyncLimits.quotedAnswerCharacters))
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}

extension Response {
    /// The body without the byte order mark that some servers write before JSON. A reader may ignore it
    /// (RFC 8259, section 8.1).
    fileprivate var jsonBytes: [UInt8] {
        let bytes = bytes ?? []
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Whether every row of the server has all columns of its table. This holds for the JavaScript servers,
    /// which state their version: they add a column to the table when a write first names it.
    fileprivate var sharesColumns: Bool {
        guard let name = HTTPField.Name("x-zumo-server-version") else { return false }
        return head.headerFields[name]?.hasPrefix("node") == true
    }
}

extension HTTPFields {
    /// Whether a `Link` field names a next page; real servers write it without angle brackets.
    var linksToNext: Bool {
        guard let name = HTTPField.Name("Link") else { return false }
        return self[values: name].contains {
            $0.contains("rel=next") || $0.contains("rel=\"next\"")
        }
    }
}
