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
