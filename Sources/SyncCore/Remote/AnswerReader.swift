public import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Reads a response as an answer. The kind of request decides which 2xx bodies are valid. Every other
/// status means the same for all requests.
struct AnswerReader {
    var generation: Generation
    var now: Instant
    /// Whether the request was a read.
    var isRead = false

    /// Reads the answer to a write, or to a read by id: its 2xx body is one row or empty.
    func write(_ response: Response) -> RemoteAnswer {
        let status = response.head.status.code
        guard (200..<300).contains(status) else { return refusal(response) }
        let body = response.jsonBytes
        if body.allSatisfy(Self.isSpace) { return .empty }
        return row(response).map { .row($0) } ?? unusable(response)
    }

    /// Reads the answer to a list.
    /// - Parameter path: the path of the table, without the prefix of the backend's address.
    func list(_ response: Response, of path: Substring) -> RemoteAnswer {
        let status = response.head.status.code
        guard (200..<300).contains(status) else { return refusal(response) }
        let page = ListBody.parse(
            response.jsonBytes, generation: generation, sharesColumns: response.sharesColumns)
        guard let page else { return unusable(response) }
        var whole = page
        if let link = response.head.headerFields.nextLink {
            (whole.hasNext, whole.next) = (true, link)
        }
        whole.next = whole.next.flatMap { NextLink.query(of: $0, path: path) }
        whole.sentAt = response.head.headerFields[.date].flatMap { Instant(httpDate: $0) }
        whole.deletionsAfter = response.head.headerFields.deletionsAfter
        return .rows(whole)
    }

    /// Reads a response whose status is not 2xx.
    private func refusal(_ response: Response) -> RemoteAnswer {
        let status = response.head.status.code
        // 1. Redirects and pages may come from something between us and the backend, so they are no verdict.
        if (300..<400).contains(status) || status < 200 {
            return .unusable(status: status, .redirect)
        }
        // 2. "Not now" may come from any server on the way, in any form.
        switch status {
        case _ where Later(response.head) != nil:
            let named = RetryAfter.parse(response.head, now: now)
            // A wait of nothing names no time: the backoff holds.
            let wait = named.flatMap { $0 > .zero ? $0 : nil }
            return .unavailable(status: status, retryAfter: wait)
        // A network that wants a sign-in answers so, and no backend (RFC 6585).
        case 511: return .unusable(status: status, .html)
        case 408, 500...: return .failed(status: status, text: text(response))
        case 401: return .unauthorized
        default: break
        }
        if response.isPage { return .unusable(status: status, .html) }
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
        if response.isPage { return .unusable(status: status, .html) }
        let isJSON = (try? JSONText(validating: response.jsonBytes)) != nil
        return .unusable(status: status, isJSON ? .unexpectedShape : .notJSON)
    }

    private func row(_ response: Response) -> RemoteRow? {
        guard let object = try? Columns(ofBackend: response.jsonBytes) else { return nil }
        let etag = response.head.headerFields[.eTag].flatMap { ETag.unquote($0) }
        var row = RemoteRow(object, generation: generation, etag: etag)
        row?.sharesColumns = response.sharesColumns
        row?.answersWrite = response.sharesColumns && !isRead
        return row
    }

    private func text(_ response: Response) -> String { Self.message(in: response.jsonBytes) }

    /// The message in an answer's body: the `error` or `message` of its JSON object, else its beginning. A page
    /// has none.
    static func message(in bytes: [UInt8]) -> String {
        if let object = try? Columns(ofBackend: bytes) {
            for name in ["error", "message", "detail", "title", "description"] {
                if let text = object[name]?.string { return cut(text) }
            }
        }
        return beginsLikePage(bytes)
            ? Unusable.html.words : cut(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether the body of a refusal is a page for people, which may come from anything on the way. It is none,
    /// whatever its content type, if it is JSON or a short text: Express sends a script's sentence as HTML.
    /// - Parameter isOfTables: whether the answer states the version of a /tables server, which is then its own.
    static func isPage(_ bytes: [UInt8], isOfTables: Bool) -> Bool {
        if isOfTables { return false }
        return beginsLikePage(bytes)
            || bytes.count > SyncLimits.refusalTextBytes
                && (try? JSONText(validating: bytes)) == nil
    }

    static func beginsLikePage(_ bytes: [UInt8]) -> Bool {
        bytes.first { !isSpace($0) } == UInt8(ascii: "<")
    }

    private static func cut(_ text: String) -> String {
        String(text.prefix(SyncLimits.quotedAnswerCharacters))
    }

    static func isSpace(_ byte: UInt8) -> Bool {
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

    /// Whether it is a page for people, and no answer of /tables.
    public var isPage: Bool {
        if head.status.code >= 400 {
            return AnswerReader.isPage(jsonBytes, isOfTables: serverVersion != nil)
        }
        return beginsLikePage
            || head.headerFields[.contentType]?.lowercased().contains("html") == true
    }

    /// Whether the body is HTML, which a /tables server may have sent too.
    public var beginsLikePage: Bool { AnswerReader.beginsLikePage(jsonBytes) }

    /// Whether a refusal is a sentence that a gateway could have written as well.
    var isRefusalInText: Bool {
        serverVersion == nil && !isPage && !jsonBytes.isEmpty
            && (try? JSONText(validating: jsonBytes)) == nil
    }

    /// The version that a /tables server states; nil if it states none.
    var serverVersion: String? {
        head.headerFields[.serverVersion]
    }

    /// Whether every row of the server has all columns of its table. This holds for the JavaScript servers,
    /// which state their version: they add a column to the table when a write first names it.
    fileprivate var sharesColumns: Bool { serverVersion?.hasPrefix("node") == true }
}

extension Columns {
    /// Parses an object of the backend. What no Unicode text holds becomes U+FFFD: half of a surrogate pair, and
    /// bytes that are not UTF-8. Not in an id, since no request could name the row.
    /// - Throws: ``JSONError``
    fileprivate init(ofBackend bytes: [UInt8]) throws(JSONError) {
        do throws(JSONError) {
            self = try Columns(parsing: bytes)
        } catch {
            guard error.reason == .loneSurrogate || error.reason == .badUTF8 else { throw error }
            // Kept are an escaped backslash, which may stand before `ud83d`, and a whole pair.
            let escapes = /(\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)|\\u[dD][89a-fA-F]../
            let text = String(decoding: bytes, as: UTF8.self)
                .replacing(escapes.matchingSemantics(.unicodeScalar)) { $0.1 ?? "\\ufffd" }
            self = try Columns(parsing: text)
            if self["id"]?.string?.contains("\u{FFFD}") == true { throw error }
        }
    }
}

extension HTTPFields {
    /// Up to which time a site no longer has deleted rows (docs/PROTOCOL.md); nil if it does not say.
    fileprivate var deletionsAfter: Instant? {
        self[own: .deletionsAfter].flatMap { Instant(iso: $0) }
    }

    /// The address in a `Link` field that names a next page; nil if there is none.
    fileprivate var nextLink: String? {
        self[values: .link].lazy.compactMap { NextLink.address(in: $0) }.first
    }
}

enum NextLink {
    /// The address in a `Link` field with the relation `next`. Real servers write it without angle brackets; such
    /// a field has one link.
    static func address(in field: String) -> String? {
        guard let relation = field.firstMatch(of: /;\s*rel\s*=\s*"?next"?\s*(?:[;,]|$)/) else {
            return nil
        }
        let before = field[..<relation.range.lowerBound]
        guard let open = before.lastIndex(of: "<") else { return String(before.drop { $0 == " " }) }
        return before[open...].dropFirst().split(separator: ">").first.map(String.init)
    }

    /// The query of a link, which is requested at the backend's own address: a link may have an internal host, or
    /// another prefix. The third generation also gives the query alone.
    /// - Returns: nil for a link that does not name the table, and for one that cannot be sent.
    static func query(of link: String, path: Substring) -> String? {
        guard link.utf8.count <= SyncLimits.linkBytes,
            link.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        let whole = link.prefix { $0 != "#" }
        let parts = whole.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 1 {
            let isQuery = whole.contains("=") && !whole.hasPrefix("/") && !whole.contains("://")
            return isQuery ? String(whole) : nil
        }
        let named = PercentCoding.decode(parts[0])?.lowercased() ?? ""
        guard parts[0].isEmpty || named.hasSuffix(path.lowercased()) else { return nil }
        return parts[1].isEmpty ? nil : String(parts[1])
    }
}

/// The body of a list: an array, `{results, count}` or `{items, count, nextLink}`.
enum ListBody {
    /// Splits the body into its elements, including unusable ones (``UnusableRow``).
    /// - Parameter sharesColumns: see ``RemoteRow/sharesColumns``.
    /// - Returns: nil if the body is not a list, or if it has elements and none of them has an id.
    static func parse(
        _ bytes: [UInt8], generation: Generation, sharesColumns: Bool = false
    ) -> RemotePage? {
        guard let body = JSONRows(bytes, named: ["items", "results"]) else { return nil }
        let elements = body.rows.map {
            ListElement($0, generation: generation, sharesColumns: sharesColumns)
        }
        guard elements.isEmpty || elements.contains(where: { $0.idText != nil }) else { return nil }
        var page = RemotePage(elements: elements, hasNext: false)
        let next = body.others["nextLink"].flatMap(text)?.string ?? ""
        (page.hasNext, page.next) = (!next.isEmpty, next.isEmpty ? nil : next)
        page.isDatasync = body.name == "items"
        let total = body.others["count"].flatMap(text).flatMap { Int($0.text) }
        page.total = total.flatMap { $0 < 0 ? nil : $0 }
        return page
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> JSONText? {
        try? JSONText(validating: Array(bytes))
    }
}

/// One element of a backend's list.
enum ListElement: Sendable, Hashable {
    case row(RemoteRow)
    case unusable(UnusableRow)

    /// Reads an element.
    /// - Parameter sharesColumns: see ``RemoteRow/sharesColumns``.
    init(_ element: JSONRows.Row, generation: Generation, sharesColumns: Bool) {
        do throws(JSONError) {
            let object =
                if let columns = element.columns { columns } else {
                    try Columns(ofBackend: Array(element.bytes))
                }
            if var row = RemoteRow(object, generation: generation) {
                row.sharesColumns = sharesColumns
                self = .row(row)
            } else {
                let reason = Self.refusal(of: object["id"])
                self = .unusable(UnusableRow(element.bytes, generation, reason: reason))
            }
        } catch {
            let reason = "It cannot be read. \(error)"
            self = .unusable(UnusableRow(element.bytes, generation, reason: reason))
        }
    }

    /// The row; nil for an unusable element.
    var row: RemoteRow? { if case .row(let row) = self { row } else { nil } }

    /// The id's text, even if no item can have it; nil if none can be read.
    var idText: String? {
        switch self {
        case .row(let row): row.id.text
        case .unusable(let unusable): unusable.id
        }
    }

    /// The id; nil if no item can have it.
    var itemID: ItemID? {
        switch self {
        case .row(let row): row.id
        case .unusable(let unusable): unusable.id.flatMap { try? ItemID($0) }
        }
    }

    /// The backend's own text of `updatedAt`.
    var updatedAt: String? {
        switch self {
        case .row(let row): row.updatedAt
        case .unusable(let unusable): unusable.updatedAt
        }
    }

    /// Why an object's id is unusable: one sentence.
    private static func refusal(of id: JSONText?) -> String {
        guard let id, !id.isNull else { return "It has no id." }
        guard let text = id.string else { return "Its id is neither text nor a whole number." }
        do throws(ItemID.Refusal) {
            _ = try ItemID(text)
            return "Its id cannot be read."
        } catch {
            return "Its id \(error.words)."
        }
    }
}

/// An element of a backend's list that cannot be applied, with what paging needs.
struct UnusableRow: Sendable, Hashable {
    /// The element's text; invalid UTF-8 is replaced.
    var text: String
    /// Why it cannot be applied: one sentence.
    var reason: String
    /// The id's text; nil if none can be read.
    var id: String?
    var updatedAt: String?

    init(_ bytes: ArraySlice<UInt8>, _ generation: Generation, reason: String) {
        text = String(decoding: bytes, as: UTF8.self)
        self.reason = reason
        for (name, value) in JSONCutter.members(ofObject: bytes) ?? [] {
            guard let value = try? JSONText(validating: Array(value)) else { continue }
            if name == "id", id == nil {
                id = value.string ?? value.value.integer.map { String($0) }
            } else if case .updatedAt = SystemProperty(named: name, in: generation) {
                updatedAt = value.string
            }
        }
    }
}

extension ItemID.Refusal {
    /// What is wrong with an id: the end of a sentence that begins with "Its id".
    fileprivate var words: String {
        switch self {
        case .empty: "is empty"
        case .tooLong(let units): "is longer than \(units) characters"
        case .forbiddenCharacter(let scalar):
            "has the character \(Self.shown(scalar)), which no client can name"
        case .dots: "is . or .., which no client can name"
        }
    }

    private static func shown(_ scalar: Unicode.Scalar) -> String {
        let isVisible = scalar.isASCII && scalar.value > 0x20 && scalar.value != 0x7F
        return isVisible ? "'\(scalar)'" : "U+" + String(scalar.value, radix: 16, uppercase: true)
    }
}
