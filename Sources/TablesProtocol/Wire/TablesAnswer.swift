public import HTTPMessage
public import HTTPTypes

/// Renders answers on `/tables` in the form that the client's SDK expects.
public struct TablesAnswer: Sendable {
    /// The client's SDK.
    public let client: ClientFamily
    let call: TableCall?
    private(set) var writer: ItemWriter

    public init(to call: TableCall) {
        self.call = call
        client = call.client
        writer = ItemWriter(
            generation: call.generation, properties: call.systemProperties,
            select: call.verb.select)
    }

    /// Makes the answer to an invalid request, which can only be an error.
    public init(client: ClientFamily) {
        self.client = client
        call = nil
        writer = ItemWriter(generation: client.generation, properties: [])
    }

    /// The same answer with all of `columns` in each whole item: null if the row was written before the
    /// column was added, as the JavaScript servers answer. In the first generation, the answer to a write
    /// shows only what was written. In the third, items show only their own columns, because its clients
    /// may refuse a null. In every generation a column with the name of a system property is left out.
    public func showing(_ columns: TableColumns?) -> TablesAnswer {
        var answer = self
        answer.writer.hidesColumns = columns?.hides(in: generation) ?? true
        switch (generation, call?.verb) {
        case (.datasync, _), (.mobileServices, .insert?), (.mobileServices, .update?),
            (.mobileServices, .replace?), (.mobileServices, .delete?),
            (.mobileServices, .undelete?):
            return answer
        case (.mobileServices, .list?), (.mobileServices, .get?), (.mobileServices, nil),
            (.mobileApps, _):
            break
        }
        answer.writer.columns = columns
        return answer
    }

    var generation: Generation { client.generation }

    private var form: AnswerForm { .understudy(generation) }
}

extension TablesAnswer {
    /// The answer to a read, update or replace. A read with conditions may also be answered with 304, or
    /// with 412 and the item.
    /// - Parameter backendVersion: another version under which the client may know the present item.
    public func render(
        item: Item, status: HTTPResponse.Status = .ok, backendVersion: String? = nil
    ) -> Response {
        switch verdict(on: item, backendVersion) {
        case .holds: return respond(with: item, status, writer)
        case .fails: return render(conflicting: item, status: .preconditionFailed)
        case .known: return form.validators(of: item, .notModified, tagged: true)
        }
    }

    /// The answer to an insert: 201 with the whole item and its location.
    public func render(inserted item: Item) -> Response {
        var response = respond(with: item, .created, writer)
        if let origin = call?.origin {
            response.head.headerFields[.location] = origin.location(of: item.id)
        }
        return response
    }

    /// The answer to a delete: 204 without body or ETag, which SDKs of every generation accept, or 200 with the
    /// row, as Node servers answer.
    public func render(deleted item: Item?) -> Response {
        if let item { return respond(with: item, .ok, writer) }
        return form.empty(.noContent)
    }

    /// The answer to an undelete, with the whole item: 201 in the second generation, else 200.
    public func render(undeleted item: Item) -> Response {
        respond(with: item, generation == .mobileApps ? .created : .ok, writer)
    }

    /// The answer to a refused write: the present item with all system properties.
    func render(conflicting item: Item, status: HTTPResponse.Status) -> Response {
        var all = ItemWriter(generation: generation, properties: Set(SystemProperty.allCases))
        all.columns = writer.columns
        all.hidesColumns = writer.hidesColumns
        return respond(with: item, status, all)
    }

    private func respond(
        with item: Item, _ status: HTTPResponse.Status, _ writer: ItemWriter
    ) -> Response {
        form.item(item, status, writer, tagged: writer.showsVersion)
    }

    /// Checks the conditions of a read. Those of a write were checked when it was performed. A first
    /// generation client that did not request the version cannot have one.
    private func verdict(on item: Item, _ backendVersion: String?) -> Conditions.Verdict {
        guard let call, case .get = call.verb, !call.conditions.isEmpty,
            generation != .mobileServices || writer.showsVersion
        else { return .holds }
        let versions = [item.version] + (backendVersion.map { [$0] } ?? [])
        return call.conditions.verdict(versions: versions, changed: item.updatedAt)
    }

    /// An error in the client's form: `{"code","error"}` in the first generation, `{"error"}` in the
    /// others. After a request for another version, the body is the present item. So it is after an insert
    /// with an existing id, except in the first generation and where the error has no item.
    public func render(error: TablesError) -> Response {
        let status = error.status(in: generation)
        if let item = error.item(shownTo: generation) {
            return render(conflicting: item, status: status)
        }
        // The Community Toolkit takes any body of a 409 for the server's item.
        if status.code == 409, client == .toolkit { return form.empty(status) }
        var response = form.error(status, error.sentence(in: generation))
        if let seconds = error.retryAfterSeconds {
            response.head.headerFields[.retryAfter] = String(seconds)
        }
        if case .methodNotAllowed(let methods) = error {
            response.head.headerFields[.allow] = methods.joined(separator: ", ")
        }
        return response
    }
}

extension TablesAnswer {
    /// The answer to a list. First and second generation: an array, or `{"results","count"}` if the count
    /// was requested, with a `Link` field. Third: `{"items","count","nextLink"}`.
    public func render(page: ItemPage) -> Response {
        let next = page.hasMore ? call?.nextQuery(after: page) : nil
        return form.list(page.items, count: page.count, next: next.flatMap(nextLink), writer)
    }

    /// The next link in the client's form. The Community Toolkit appends it to its own path and `?`.
    /// Datasync expects an absolute address, or a path if it asked for one.
    private func nextLink(_ query: String) -> String? {
        let origin = call?.origin
        switch client {
        case .mobileServices, .mobileApps: return origin.map { "\($0.url)?\(query); rel=next" }
        case .datasync:
            guard let origin else { return query }
            return origin.wantsPathLinks
                ? "\(origin.tablePath)?\(query)" : "\(origin.url)?\(query)"
        case .toolkit: return query
        }
    }
}

extension TableCall {
    /// The query of the next page: the client's own, with `$skip` increased and `$top` decreased by the
    /// number of returned rows. In the order of change it also contains `__after`. A page in the backend's own
    /// order continues by `__next` alone. Nil if `$top` is used
    /// up, and for a call that is not a list.
    func nextQuery(after page: ItemPage) -> String? {
        let returned = page.items.count
        let lastChange = page.hasOwnStamps ? page.items.last?.updatedAt : nil
        guard case .list(let query) = verb, query.top ?? .max > returned else { return nil }
        var pairs: [String] = []
        var hasTop = false
        for parameter in origin.parameters {
            switch QueryOption(name: parameter.name, generation: generation) {
            case .skip, .after, .next: continue
            case .top:
                guard !hasTop, let top = query.top else { continue }
                hasTop = true
                pairs.append("$top=\(top - returned)")
            case .filter, .orderBy, .select, .inlineCount, .count, .includeDeleted,
                .systemProperties, nil:
                pairs.append(parameter.linked)
            }
        }
        if let next = page.next {
            return (pairs + ["__next=\(PercentCoding.encode(next))"]).joined(separator: "&")
        }
        if query.isInOrderOfChange, let lastChange {
            pairs.append("__after=\(lastChange.text)")
        }
        pairs.append("$skip=\(query.skip + returned)")
        return pairs.joined(separator: "&")
    }
}

extension QueryParameter {
    /// The pair as a link has it: with characters beyond ASCII encoded, also those that the client did not
    /// encode.
    fileprivate var linked: String {
        guard raw.utf8.contains(where: { $0 >= 0x80 }) else { return raw }
        return raw.unicodeScalars.map { scalar in
            scalar.isASCII ? String(scalar) : PercentCoding.encode(String(scalar))
        }.joined()
    }
}

extension CallOrigin {
    /// The table's address.
    var url: String { "\(scheme)://\(authority)\(tablePath)" }

    /// The address of an item in the table.
    func location(of id: ItemID) -> String { "\(url)/\(PercentCoding.encode(id.text))" }
}
