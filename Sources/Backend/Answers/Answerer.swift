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
            profile.generation == .mobileServices
                ? form.empty(.notModified)
                : form.validators(of: rows.item(row), .notModified, tagged: isTagged([]))
        case .inserted(let row, let sent, _): inserted(row, sent)
        case .changed(let row, let sent, _): changed(200, row, sent)
        case .unchanged(let id): unchanged(id)
        case .deletedAll(let rows): deletedAll(rows)
        case .deleted(let row):
            profile.deleteAnswersRow ? item(200, row) : form.empty(.noContent)
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
    private func conditional(_ status: Int) -> Set<SystemProperty> {
        guard status == 200, let table, let field = call.field(.ifMatch), !field.isEmpty,
            field.filter({ $0 != " " }) != "*", !table.isPlain(profile.generation)
        else { return [] }
        return [.version]
    }

    /// Nothing was looked up: only the id is known.
    private func unchanged(_ id: String) -> Response {
        let number = table?.options.idKind == .integer ? Int64(id).map(JSONText.integer) : nil
        return form.json(.ok, Array("{\"id\":\((number ?? .string(id)).text)}".utf8))
    }

    /// The answer to a deletion by filter: a list of the deleted rows, with the tag of the first.
    private func deletedAll(_ deleted: [Row]) -> Response {
        let items = deleted.map { rows.item($0) }
        var response = form.list(items, count: nil, next: nil, rows.writer(showing: Self.all))
        if let first = items.first {
            form.addValidators(of: first, to: &response, tagged: isTagged([]))
        }
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
        case .sentItem: form.json(.conflict, sent)
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

    private func location(_ row: Row) -> String {
        let isFirst = profile.generation == .mobileServices
        let scheme =
            isFirst && options.publicAddress == nil ? "https" : call.scheme(options)
        let path = call.request.path
        let slash = path.hasSuffix("/") && !isFirst ? "" : "/"
        // The first generation encodes the address as a whole, the others the id alone.
        let id = PageLink.encoded(row.id, leaving: isFirst ? ";/?:@&=+$,#" : "")
        return "\(scheme)://\(call.authority(options))\(path)\(slash)\(id)"
    }

    /// One row as the whole body; `more` are system properties that need not be asked for.
    private func item(
        _ status: Int, _ row: Row, select: Set<String>? = nil,
        showing more: Set<SystemProperty> = [], isEcho: Bool = false
    ) -> Response {
        var rows = rows
        rows.asked.formUnion(more)
        let writer = rows.writer(select: select, fillsColumns: !isEcho)
        let isNamed = select?.contains("__version") == true
        return form.item(
            rows.item(row), .init(code: status), writer,
            tagged: isTagged(isNamed ? [.version] : more))
    }

    /// The row that is there, for a client whose write does not fit it.
    private func conflict(_ status: Int, _ row: Row) -> Response {
        form.item(
            rows.item(row), .init(code: status), rows.writer(showing: Self.all),
            tagged: rows.haveVersions)
    }

    private static let all = Set(SystemProperty.allCases)

    /// Whether an answer names the version. The first generation's server says it only to a client that asked
    /// for it.
    /// - Parameter more: the system properties that need not be asked for.
    private func isTagged(_ more: Set<SystemProperty>) -> Bool {
        rows.haveVersions
            && (profile.generation != .mobileServices
                || rows.asked.union(more).contains(.version))
    }

    private func list(_ page: RowPage) -> Response {
        var response = form.list(
            page.rows.map { rows.item($0) }, count: page.count, next: link.text(after: page),
            rows.writer(select: page.select))
        if let time = page.deletionsAfter {
            // A text has whole milliseconds. A later time only makes a client compare more.
            let whole = Instant(ticks: time.ticks + 9_999)
            response.head.headerFields[own: .deletionsAfter] = whole.text
        }
        return response
    }

    private var rows: ShownRows {
        ShownRows(
            profile: profile, options: options, table: table,
            asked: (try? SystemProperty.asked(call, profile)) ?? [])
    }

    private var form: AnswerForm { AnswerForm(call, profile, options) }

    private var link: PageLink {
        PageLink(
            call: call, profile: profile, options: options, isInBody: form.hasItemsEnvelope)
    }
}

// Refusals.
extension Answerer {
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
        let status = HTTPResponse.Status(code: refusal.status)
        switch refusal.form {
        case .error: return form.error(status, refusal.message)
        case .json: return form.json(status, Array(refusal.message.utf8))
        case .bare:
            return Response(
                status: status, headerFields: [.contentType: Self.html],
                body: Array(refusal.message.utf8))
        case .text: return html(status, refusal.message)
        case .page:
            var response = html(status, Self.page(refusal.message))
            response.head.headerFields[.contentSecurityPolicy] = "default-src 'none'"
            response.head.headerFields[.xContentTypeOptions] = "nosniff"
            return response
        case .empty: return form.empty(status)
        }
    }

    private static let html = "text/html; charset=utf-8"

    private func html(_ status: HTTPResponse.Status, _ text: String) -> Response {
        var response = form.json(status, Array(text.utf8))
        response.head.headerFields[.contentType] = Self.html
        return response
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

    /// The answer to a preflight; the fields for other origins come on top.
    func preflight() -> Response {
        if profile.generation == .mobileServices { return form.empty(.noContent) }
        let methods = "GET,HEAD,POST,PATCH,DELETE"
        var response = html(.ok, methods)
        response.head.headerFields[.allow] = methods
        return taggedByExpress(response)
    }
}

// What Express puts on its answers.
extension Answerer {
    /// Adds what Express and the Node server put on their answers: nothing may be kept in caches
    /// where the table was reached, and a weak tag of its own where no version is.
    private func withNodeFields(_ response: Response, _ outcome: Outcome) -> Response {
        guard profile.isNode else { return response }
        var response = response
        if reachesTable(outcome) { response.head.headerFields.forbidCaches() }
        return taggedByExpress(response)
    }

    /// Adds Express' weak tag: the length in hexadecimal and a digest. Clients that take any tag for
    /// the version are misled by it, as by the real one; only the digest is another.
    private func taggedByExpress(_ response: Response) -> Response {
        let isPage = response.head.headerFields[.contentSecurityPolicy] != nil
        guard profile.isNode, !isPage, response.head.headerFields[.eTag] == nil,
            let bytes = response.bytes, !bytes.isEmpty
        else { return response }
        var digest: [UInt8] = []
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for round in 0..<3 {
            for byte in bytes + [UInt8(round)] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            digest += (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
        }
        var tagged = response
        let text = Base64.encoded(digest.prefix(20)).dropLast()
        tagged.head.headerFields[.eTag] = "W/\"\(String(bytes.count, radix: 16))-\(text)\""
        return tagged
    }

    private func reachesTable(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .list, .found, .inserted, .changed, .unchanged, .deleted, .deletedAll, .undeleted: true
        case .missing: call.method == .get
        case .notModified, .exists, .preconditionFailed, .versionConflict, .gone, .refused,
            .overtaken:
            false
        }
    }
}

// Answers to writes of a sender who may not read the table: the status that a reader gets, without the row.
//
// A write that took effect is answered with the id, the columns that were sent, and the version, which the
// sender's next write names. Any other is answered with a sentence alone.
extension Answerer {
    /// The answer to a sender who may not read the table; nil for readers, and where the usual answer shows no
    /// row.
    private func unreadable(_ outcome: Outcome) -> Response? {
        guard !mayRead else { return nil }
        switch outcome {
        case .inserted(let row, let sent, _):
            var response = receipt(201, row, sent)
            if !profile.isNode { response.head.headerFields[.location] = location(row) }
            return response
        case .changed(let row, let sent, _): return receipt(200, row, sent)
        case .deleted(let row):
            return profile.deleteAnswersRow ? receipt(200, row) : form.empty(.noContent)
        case .deletedAll(let deleted):
            return form.list(
                deleted.map { rows.item($0, only: []) }, count: nil, next: nil,
                rows.receiptWriter(showsVersion: isTagged([])))
        case .undeleted(let row):
            guard case .post(let status) = profile.undelete else { return receipt(200, row) }
            return receipt(status, row)
        case .exists: return refused(Refusal(409, "An item with this id exists."))
        case .preconditionFailed: return refused(Refusal(412, Self.conflictSentence))
        case .versionConflict: return refused(Refusal(409, Self.conflictSentence))
        case .list, .found, .notModified, .unchanged, .missing, .gone, .refused, .overtaken:
            return nil
        }
    }

    private static let conflictSentence =
        "The item is not as the request says. You may not read it."

    /// Whether the sender may see what the table holds.
    private var mayRead: Bool {
        guard options.tokens == .verified, let name = call.tableName else { return true }
        return options.permission(.read, call, on: name) == .given
    }

    private func receipt(_ status: Int, _ row: Row, _ sent: Columns = Columns()) -> Response {
        let names = Set(sent.names.map { $0.lowercased() })
        let tagged = isTagged(conditional(status))
        return form.item(
            rows.item(row, only: names), .init(code: status),
            rows.receiptWriter(showsVersion: tagged),
            tagged: tagged)
    }
}

extension AnswerForm {
    /// The form of the flavour's answers to a request.
    init(_ call: Call, _ profile: Profile, _ options: BackendOptions) {
        var fields = HTTPFields()
        switch profile.flavour {
        case .mobileServices:
            fields[.cacheControl] = "no-cache"
            fields.set("x-zumo-server-version", "nodev1-1.0.1")
        case .node, .express:
            fields.set("X-Powered-By", "Express")
            fields.set("x-zumo-server-version", "node-3.0.0")
        case .dotnet:
            fields.set("x-zumo-server-version", "net-1.0.0.0")
            if call.method == .get { fields.forbidCaches() }
        case .mobileApps, .datasync, .toolkit: break
        }
        self = .understudy(profile.generation)
        let isFirst = profile.generation == .mobileServices
        bodilessFields = fields
        fields[.contentType] = isFirst ? "application/json" : "application/json; charset=utf-8"
        if isFirst { bodilessFields = fields }
        self.fields = fields
        errors = profile.errors
        // The older of the third generation's servers answers clients of the second as those expect.
        if profile.flavour == .datasync {
            hasItemsEnvelope = !(call.apiVersion ?? "3").hasPrefix("2")
        }
        if options.stamps == .none { hasLastModified = false }
    }
}

extension HTTPFields {
    /// Sets a field by the text of its name.
    mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { self[name] = value }
    }

    /// Sets the fields by which the servers for Node and .NET keep an answer out of caches.
    fileprivate mutating func forbidCaches() {
        self[.cacheControl] = "no-cache"
        set("Expires", "0")
        set("Pragma", "no-cache")
    }
}

extension Call {
    /// The `ZUMO-API-VERSION`, from the field or the query.
    var apiVersion: String? {
        [field("ZUMO-API-VERSION"), parameter(anyCase: "ZUMO-API-VERSION")]
            .compactMap { $0 }.first { !$0.isEmpty }
    }
}
