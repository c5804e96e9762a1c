import HTTPTypes
import TablesProtocol

/// The reads of a request on a table.
struct TableReads {
    let request: TableRequest

    private var call: Call { request.call }
    private var profile: Profile { request.profile }
    private var options: BackendOptions { request.options }
    private var storage: any RowStorage { request.storage }

    /// `GET /tables/{table}`.
    func list(_ name: TableName) throws -> Outcome {
        var query = try ListQuery(call, profile)
        guard let table = try readableTable(name) else {
            return .list(
                RowPage(
                    rows: [], count: query.parsed.count ? 0 : nil, skip: query.parsed.skip,
                    top: query.parsed.top, hasMore: false))
        }
        if options.stamps == .none, query.mentionsUpdatedAt {
            throw Refusal(400, "Could not find a property named 'updatedAt'.")
        }
        if let outcome = try unknownColumns(query, table) { return outcome }
        if let owner = try request.owner(in: table) { query.keepOnly(owner) }
        if let (column, text) = scriptFilter(in: table) { query.keepOnly(column, text) }
        if options.lists == .linked { try continueList(&query, table) }
        let wanted = min(query.parsed.top ?? .max, pageRows(query))
        var rows = rowQuery(
            name, query, limit: wanted + 1, includesDeleted: request.includesDeleted)
        rows.counts = query.parsed.count
        var list = try storage.list(rows)
        let hasMore = list.rows.count > wanted
        if hasMore { list.rows.removeLast() }
        return .list(
            RowPage(
                rows: list.rows, count: list.count, skip: query.parsed.skip,
                top: query.isUnlimited ? 0 : query.parsed.top, select: query.select,
                hasMore: hasMore,
                continuation: options.lists == .linked ? list.rows.last?.id : nil,
                deletionsAfter: list.deletionsAfter))
    }

    /// Continues a list after the row that the link of the page before names.
    /// - Throws: the refusal of an option that such a list does not take.
    private func continueList(_ query: inout ListQuery, _ table: StoredTable) throws(Refusal) {
        if !query.parsed.orderBy.isEmpty || query.skips || query.parsed.count {
            throw Refusal(
                400, "The query specified in the URI is not supported by the storage.")
        }
        guard let last = call.parameter(RowPage.continuationName) else { return }
        query.keepOnly(after: idLiteral(last, table))
    }

    private func idLiteral(_ id: String, _ table: StoredTable) -> Expression.Literal {
        let number = table.options.idKind == .integer ? Int64(id) : nil
        return number.map { .number(NumberLiteral($0)) } ?? .string(id)
    }

    /// A list's query as the storage takes it.
    func rowQuery(
        _ name: TableName, _ query: ListQuery, limit: Int, includesDeleted: Bool
    ) -> RowQuery {
        RowQuery(
            table: name, filter: query.filter, orderBy: query.parsed.orderBy,
            // Without an order the Node server gives rows as they were inserted, the others by id.
            lastOrder: profile.isNode && options.lists == .sorted ? .insertion : .id,
            skip: query.parsed.skip, limit: limit,
            includesDeleted: includesDeleted, nulls: query.parsed.nulls,
            isExact: options.stamps == .subMillisecond, time: call.listTime)
    }

    /// `GET /tables/{table}/{id}`.
    func get(_ name: TableName, _ id: String) throws -> Outcome {
        guard let table = try readableTable(name) else { return .missing(id: id) }
        guard let row = try request.find(table, id) else { return .missing(id: id) }
        if let (column, text) = scriptFilter(in: table),
            row.columns[column]?.string?.utf8.elementsEqual(text.utf8) != true
        {
            return .missing(id: id)
        }
        if profile.generation == .mobileServices, try !isSelected(row, table) {
            return .missing(id: id)
        }
        if row.deleted, !(profile.includesDeletedByID && request.includesDeleted) {
            return profile.readDeleted == .gone ? .gone(id: id) : .missing(id: id)
        }
        if profile.generation == .datasync { return request.failedValidator(row) ?? .found(row) }
        if profile.generation == .mobileServices {
            return showsVersion && namesTag(of: row) ? .notModified(row) : .found(row)
        }
        if !profile.isNode, let field = call.field(.ifNoneMatch) {
            switch IfMatch.parse(field, generation: .datasync) {
            case .any: return .notModified(row)
            case .versions(let versions) where versions.contains(row.version):
                return .notModified(row)
            case .versions, .absent, .invalid: break
            }
        }
        return .found(row)
    }

    /// The column by which the table's read script filters, and the text that the request's pair has.
    private func scriptFilter(in table: StoredTable) -> (column: String, text: String)? {
        guard let name = options.table(table.name)?.readParameter,
            let text = call.parameter(name)
        else { return nil }
        return (table.spelling(name), text)
    }

    /// Whether a read of one item answers it: the first generation's filter and columns count there too.
    private func isSelected(_ row: Row, _ table: StoredTable) throws -> Bool {
        var query = try ListQuery(call, profile)
        if try unknownColumns(query, table) != nil { return false }
        query.keepOnly(id: idLiteral(row.id, table))
        let list = rowQuery(table.name, query, limit: 1, includesDeleted: true)
        return try !storage.list(list).rows.isEmpty
    }

    /// Whether `If-None-Match` names the row's tag, letter by letter.
    private func namesTag(of row: Row) -> Bool {
        let parts = (call.field(.ifNoneMatch) ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " })
        }
        return parts == ["*"] || parts.contains(ETag.quote(row.version))
    }

    /// Whether the first generation's client asked for the version.
    private var showsVersion: Bool {
        let asked = (try? SystemProperty.asked(call, profile))?.contains(.version) ?? false
        return asked || ListQuery.select(call)?.contains("__version") == true
    }

    /// The table for a read; nil when an unknown one reads as empty.
    private func readableTable(_ name: TableName) throws(Refusal) -> StoredTable? {
        do {
            return try request.table(name)
        } catch {
            guard error.status == 404, options.unknownTable == .empty else { throw error }
            return nil
        }
    }

    /// The outcome of a query with a column that the table does not have: no rows on servers whose
    /// schema grows, 400 on those whose schema is fixed. Nil when the table has all columns.
    private func unknownColumns(_ query: ListQuery, _ table: StoredTable) throws -> Outcome? {
        let known = Set(table.knownColumns.map { $0.name.lowercased() })
        let system = Set(
            SystemProperty.allCases.compactMap { $0.name(in: profile.generation)?.lowercased() })
        let unknown = query.columns.subtracting(known).subtracting(system).subtracting(["id"])
        guard let name = unknown.sorted().first else { return nil }
        switch profile.flavour {
        case .node, .express, .mobileServices:
            return .list(
                RowPage(rows: [], skip: 0, hasMore: false))
        case .mobileApps: return nil
        case .dotnet, .datasync:
            throw Refusal(400, "Could not find a property named '\(name)'.")
        case .toolkit: throw Refusal(400, "", as: .empty)
        }
    }

    /// The most rows in one answer: the first generation gives as many as `$top` says.
    private func pageRows(_ query: ListQuery) -> Int {
        if profile.generation == .mobileServices { return query.parsed.top ?? profile.pageRows }
        return query.isUnlimited ? .max - 1 : profile.pageRows
    }
}
