import GRDB
import HTTPTypes
import TablesProtocol

extension Exchange {
    /// `GET /tables/{table}`.
    func list(_ name: TableName) throws -> Outcome {
        var query = try ListQuery(call, profile)
        guard let table = try readableTable(name) else {
            return .list(
                RowPage(
                    rows: [], count: query.count ? 0 : nil, skip: query.skip, top: query.top,
                    select: nil, hasMore: false))
        }
        if options.stamps == .none, query.mentionsUpdatedAt {
            throw Refusal(400, "Could not find a property named 'updatedAt'.")
        }
        if let outcome = try unknownColumns(query, table) { return outcome }
        if let user = try owner(in: table.options) { query.keepOnly(owner: user) }
        let wanted = min(query.top ?? .max, pageRows(query))
        let sql = ListSQL(
            table, query, profile, includesDeleted: includesDeleted, isExact: isExact, now: now)
        var rows = try sql.rows(database, limit: wanted + 1)
        let hasMore = rows.count > wanted
        if hasMore { rows.removeLast() }
        return .list(
            RowPage(
                rows: rows, count: query.count ? try sql.count(database) : nil, skip: query.skip,
                top: query.top, select: query.select.map { Set($0.map { $0.lowercased() }) },
                hasMore: hasMore))
    }

    /// `GET /tables/{table}/{id}`.
    func get(_ name: TableName, _ id: String) throws -> Outcome {
        guard let table = try readableTable(name) else { return .missing(id: id) }
        if profile.generation == .mobileServices, table.options.idKind == .integer,
            Int64(id) == nil
        {
            throw Refusal(400, "The value specified for property 'id' is invalid.")
        }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if row.deleted, !(profile.includesDeletedByID && includesDeleted) {
            return profile.readDeleted == .gone ? .gone(id: id) : .missing(id: id)
        }
        if profile.generation == .datasync { return failedValidator(row) ?? .found(row) }
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

    /// `DELETE /tables/{table}?$filter=…`: only the Node server deletes so.
    func deleteByFilter(_ name: TableName) throws -> Outcome {
        let table = try table(name)
        let query = try ListQuery(call, profile)
        guard query.filter != nil else { throw Refusal(500, "SQLITE_ERROR: incomplete input") }
        let rows = try ListSQL(
            table, query, profile, includesDeleted: false, isExact: isExact, now: now
        ).rows(database, limit: .max)
        var first: Row?
        for row in rows {
            if case .deleted(let deleted) = try delete(name, row.id) { first = first ?? deleted }
        }
        return first.map(Outcome.deleted) ?? .missing(id: "")
    }

    /// The table for a read; nil when an unknown one reads as empty.
    private func readableTable(_ name: TableName) throws -> TableRecord? {
        do {
            return try table(name)
        } catch let refusal as Refusal {
            guard refusal.status == 404, options.unknownTable == .empty else { throw refusal }
            return nil
        }
    }

    /// What a query with a column that the table does not have gives: nothing on servers whose
    /// schema grows, 400 on those whose schema is fixed; nil when it may go on.
    private func unknownColumns(_ query: ListQuery, _ table: TableRecord) throws -> Outcome? {
        let known = Set(table.knownColumns.map { $0.name.lowercased() })
        let system = Set(
            SystemProperty.allCases.compactMap { $0.name(in: profile.generation)?.lowercased() })
        let unknown = query.columns.subtracting(known).subtracting(system).subtracting(["id"])
        guard let name = unknown.sorted().first else { return nil }
        switch profile.flavour {
        case .node, .express:
            return .list(
                RowPage(rows: [], count: nil, skip: 0, top: nil, select: nil, hasMore: false))
        case .mobileServices, .mobileApps: return nil
        case .dotnet, .datasync:
            throw Refusal(400, "Could not find a property named '\(name)'.")
        case .toolkit: throw Refusal(400, "", as: .empty)
        }
    }

    private var isExact: Bool { options.stamps == .subMillisecond }

    /// The most rows in one answer: the first generation gives as many as `$top` says.
    private func pageRows(_ query: ListQuery) -> Int {
        profile.generation == .mobileServices ? query.top ?? profile.pageRows : profile.pageRows
    }
}
