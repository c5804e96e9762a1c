import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Puts an outcome into the words of the flavour.
struct Answerer {
    /// The request.
    let call: Call
    /// The rules of the flavour.
    let profile: Profile
    /// The options that the backend was started with.
    let options: BackendOptions
    /// The table, where the request reached one.
    let table: StoredTable?

    /// The response.
    func response(_ outcome: Outcome) -> Response {
        withNodeFields(unreadable(outcome) ?? plain(outcome), outcome)
    }

    private func plain(_ outcome: Outcome) -> Response {
        switch outcome {
        case .list(let page): list(page)
        case .found(let row): found(row)
        case .notModified(let row):
            profile.generation == .mobileServices ? empty(304) : bodiless(304, row)
        case .inserted(let row, let sent, _): inserted(row, sent)
        case .changed(let row, let sent, _): changed(200, row, sent)
        case .unchanged(let id): unchanged(id)
        case .deletedAll(let rows): deletedAll(rows)
        case .deleted(let row): profile.deleteAnswersRow ? item(200, row) : empty(204)
        case .undeleted(let row): undeleted(row)
        case .exists(let row, let sent): exists(row, sent)
        case .preconditionFailed(let row): conflict(412, row)
        case .versionConflict(let row): conflict(409, row)
        case .missing(let id): refused(missing(404, id))
        case .gone(let id): refused(missing(410, id))
        case .refused(let refusal): refused(refusal)
        case .overtaken: refused(.tooManyWriters)
        }
    }

    /// `$select` works on one item too on the first generation and on .NET.
    private func found(_ row: Row) -> Response {
        let selects = profile.flavour == .mobileServices || profile.flavour == .dotnet
        return item(200, row, select: selects ? ListQuery.select(call) : nil)
    }

    private func inserted(_ row: Row, _ sent: Columns) -> Response {
        var response = changed(201, row, sent)
        if !profile.isNode {
            response.head.headerFields[.location] = location(row)
        }
        return response
    }

    /// The first generation echoes what was sent; the later ones give the whole row.
    private func changed(_ status: Int, _ row: Row, _ sent: Columns) -> Response {
        guard profile.generation == .mobileServices else { return item(status, row) }
        var echo = row
        echo.columns = sent
        echo.columns["id"] = nil
        return item(status, echo, showing: conditional(status), isEcho: true)
    }

    /// The version is in the echo of a write that named it.
    func conditional(_ status: Int) -> Set<SystemProperty> {
        guard status == 200, let table, let field = call.field(.ifMatch), !field.isEmpty,
            field.filter({ $0 != " " }) != "*", !table.isPlain(profile.generation)
        else { return [] }
        return [.version]
    }

    /// Nothing was looked up: only the id is known.
    private func unchanged(_ id: String) -> Response {
        let number = table?.options.idKind == .integer ? Int64(id).map(JSONText.integer) : nil
        return json(200, Array("{\"id\":\((number ?? .string(id)).text)}".utf8))
    }

    /// The answer to a deletion by filter: a list of the deleted rows, with the tag of the first.
    private func deletedAll(_ rows: [Row]) -> Response {
        var response = json(200, RowWriter.list(rows.map { rowWriter.whole($0) }))
        if let first = rows.first { addValidators(&response, first, rowWriter) }
        return response
    }

    private func undeleted(_ row: Row) -> Response {
        guard case .post(let status) = profile.undelete else { return item(200, row) }
        guard profile.generation == .mobileServices else { return item(status, row) }
        var echo = row
        echo.columns = Columns()
        return item(
            status, echo, showing: conditional(200).union([.deleted]), isEcho: true)
    }

    private func exists(_ row: Row, _ sent: [UInt8]) -> Response {
        switch profile.duplicate {
        case .sentItem: json(409, sent)
        case .storedItem: conflict(409, row)
        case .error:
            refused(
                Refusal(
                    409, "Could not insert the item because an item with that id already exists."))
        }
    }

    private func missing(_ status: Int, _ id: String) -> Refusal {
        switch profile.errors {
        case .codeAndError: Refusal(status, "An item with id '\(id)' does not exist.")
        case .error, .message: Refusal(status, "The item does not exist")
        case .problem, .empty: Refusal(status, "", as: .empty)
        }
    }

    /// The text as `encodeURIComponent` of JavaScript encodes it; `more` are characters that stay too.
    static func encoded(_ text: String, leaving more: String = "") -> String {
        PercentCoding.encode(text, leaving: "!*'()" + more)
    }

    func location(_ row: Row) -> String {
        let isFirst = profile.generation == .mobileServices
        let scheme = isFirst && options.publicAddress == nil ? "https" : self.scheme
        let path = call.request.path
        let slash = path.hasSuffix("/") && !isFirst ? "" : "/"
        // The first generation encodes the address as a whole, the others the id alone.
        let id = Self.encoded(row.id, leaving: isFirst ? ";/?:@&=+$,#" : "")
        return "\(scheme)://\(authority)\(path)\(slash)\(id)"
    }

    /// The scheme by which clients reach the backend.
    var scheme: String { options.publicAddress?.scheme ?? call.request.head.scheme ?? "http" }

    /// The host and port by which clients reach the backend.
    var authority: String { options.publicAddress?.authority ?? call.authority }
}

extension Call {
    /// The host and port that the client addressed.
    var authority: String {
        request.head.authority ?? "localhost"
    }
}

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

    /// A list. If the table no longer has all tombstones, a field says after which time it has them
    /// (docs/PROTOCOL.md).
    func list(_ page: RowPage) -> Response {
        var response = enveloped(page)
        if let time = page.deletionsAfter {
            // A text has whole milliseconds. A later time only makes a client compare more.
            let whole = Instant(ticks: time.ticks + 9_999)
            response.head.headerFields.set("Understudy-Deletions-After", whole.text)
        }
        return response
    }

    /// A list in the envelope of the generation.
    private func enveloped(_ page: RowPage) -> Response {
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

extension Answerer {
    /// The `Link` field; nil when no page follows.
    func linkField(_ page: RowPage) -> String? {
        switch page.continuation == nil ? profile.nextPage : .link {
        case .link:
            guard profile.generation != .datasync, hasNext(page) else { return nil }
            let target =
                "\(call.request.path)?\(query(page) { Self.encoded($0, leaving: "$:/,") })"
            return "\(scheme)://\(authority)\(target); rel=next"
        case .nodeLink: return nodeLink(page)
        case .none, .nextLink, .nextQuery: return nil
        }
    }

    /// The `nextLink` of a third generation page; nil when no page follows.
    func nextLink(_ page: RowPage) -> String? {
        guard hasNext(page) else { return nil }
        let query = query(page) { Self.encoded($0, leaving: "$:/,") }
        switch profile.nextPage {
        case .nextQuery: return query
        case .nextLink:
            let target = "\(call.request.path)?\(query)"
            let isPath =
                call.field("X-ZUMO-Options")?.lowercased().contains("nextlink=path") ?? false
            return isPath ? target : "\(scheme)://\(authority)\(target)"
        case .none, .link, .nodeLink: return nil
        }
    }

    private func hasNext(_ page: RowPage) -> Bool {
        page.hasMore && (page.top.map { $0 > page.rows.count } ?? true)
    }

    /// The Node server links whenever a page is full and less than asked for, taking a missing
    /// `$top` for the highest, and forgets path and port. The port of a public address stays.
    private func nodeLink(_ page: RowPage) -> String? {
        guard let top = page.top ?? profile.maxTop, top > page.rows.count,
            page.rows.count == profile.pageRows
        else { return nil }
        var page = page
        page.top = top
        let host = options.publicAddress?.authority ?? String(authority.prefix { $0 != ":" })
        return "\(scheme)://\(host)/?\(query(page) { Self.encoded($0) }); rel=next"
    }

    /// The pairs of the request with `$skip` moved on and `$top` reduced by what was given.
    private func query(_ page: RowPage, _ encode: (String) -> String) -> String {
        var pairs = call.parameters
        let skip = String(page.skip + page.rows.count)
        if let top = page.top { set("$top", String(top - page.rows.count), in: &pairs) }
        if let continuation = page.continuation {
            set(RowPage.continuationName, continuation, in: &pairs)
        } else {
            set("$skip", skip, in: &pairs)
        }
        return pairs.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    private func set(_ name: String, _ value: String, in pairs: inout [Call.Parameter]) {
        if let index = pairs.firstIndex(where: { $0.name == name }) {
            pairs[index].value = value
        } else {
            pairs.append(Call.Parameter(name: name, value: value))
        }
    }
}
