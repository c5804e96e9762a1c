import HTTPMessage
import HTTPTypes
import TablesProtocol

/// One request on a table: it reads, decides, and writes with one call.
struct TableRequest {
    /// The storage of the rows.
    let storage: any RowStorage
    /// The request.
    let call: Call
    /// The rules of the flavour.
    let profile: Profile
    /// The options that the backend was started with.
    let options: BackendOptions
    /// The time of the request.
    let now: Instant
    /// The source of new ids and versions.
    let random: SharedRandom
    /// Whether its writes are committed; false for the fault `pretend`.
    let isKept: Bool
    /// The table of the request when there is one.
    let known: StoredTable?

    /// Does what the request asks for.
    func outcome() throws -> Outcome {
        do {
            if profile.generation == .mobileServices {
                try FirstGenerationChecks(request: self).check()
            }
            switch call.route {
            case .table(let name):
                try check(name, onItem: false)
                return try onTable(name)
            case .item(let name, let id):
                try check(name, onItem: true)
                return try onItem(name, id)
            case .faults, .effects, .other: return .refused(noRoute)
            }
        } catch let refusal as Refusal {
            return .refused(refusal)
        }
    }

    /// Refuses a method that the table's options forbid, or leave to users alone.
    private func check(_ name: TableName, onItem: Bool) throws(Refusal) {
        if let operation = TableOptions.Operation(call.method, onItem: onItem) {
            try check(operation, name)
        }
    }

    private func onTable(_ name: TableName) throws -> Outcome {
        switch call.method {
        case .get: return try TableReads(request: self).list(name)
        case .head where !profile.isNode: return try TableReads(request: self).list(name)
        case .post: return try insert(name)
        case .patch where profile.isNode: return try updateByBody(name)
        case .delete where profile.isNode: return try deleteByFilter(name)
        case .patch where profile.generation == .mobileServices:
            throw Refusal(
                400, "An id value must be specified in the URL for an update operation.")
        default: throw notAllowed(allowed: "GET, POST")
        }
    }

    private func onItem(_ name: TableName, _ id: String) throws -> Outcome {
        switch call.method {
        case .get: return try TableReads(request: self).get(name, id)
        case .head where !profile.isNode: return try TableReads(request: self).get(name, id)
        case .post:
            guard case .post = profile.undelete else { throw notAllowed(allowed: itemMethods) }
            return try undelete(name, id)
        case .patch where profile.patches: return try update(name, id)
        case .put where profile.puts: return try replace(name, id)
        case .delete: return try delete(name, id)
        default: throw notAllowed(allowed: itemMethods)
        }
    }

    /// The table; when there is none, a new one if the write may create it.
    func table(_ name: TableName, creating: Bool = false) throws(Refusal) -> StoredTable {
        let new = creating ? options.dynamicTable : nil
        guard let table = found(name) ?? new.map({ StoredTable(name: name, options: $0) }) else {
            throw noTable(name)
        }
        // Where tokens are verified, what the method needs was looked at before.
        if options.tokens != .verified, table.options.needsSignIn,
            call.token(profile.generation) == nil
        {
            throw signIn
        }
        return table
    }

    /// The table when there is one now. Where tokens are verified, one about which no setting says who may
    /// use it is not there, whatever the storage has.
    func found(_ name: TableName) -> StoredTable? {
        if profile.hasOnlyListedTables, options.tables[name] == nil { return nil }
        if options.tokens == .verified, options.table(name) == nil { return nil }
        return known
    }

    var itemMethods: String {
        switch (profile.generation, profile.puts) {
        case (.mobileServices, _): "GET, POST, PATCH, DELETE"
        case (_, true): "GET, PUT, PATCH, DELETE"
        case (_, false): "GET, POST, PATCH, DELETE"
        }
    }
}

extension TableRequest {
    /// The outcome of a write whose condition does not hold; nil when it does.
    ///
    /// A version in the body counts only where no If-Match came, and then gives 409.
    func mismatch(_ row: Row, _ sent: Sent?, _ table: StoredTable) -> Outcome? {
        if table.isPlain(profile.generation) || options.table(table.name)?.hasVersions == false {
            return nil
        }
        if profile.generation == .datasync { return failedValidator(row) }
        if profile.generation == .mobileServices { return firstMismatch(row, table) }
        let field = call.field(.ifMatch)
        if profile.isNode, let field {
            return nodeAccepts(field, row) ? nil : .preconditionFailed(row)
        }
        switch IfMatch.parse(field, generation: profile.generation) {
        case .invalid: return .refused(Refusal(400, "Invalid 'if-match' header."))
        case .any: return nil
        case .versions(let versions):
            return versions.contains(row.version) ? nil : .preconditionFailed(row)
        case .absent:
            guard let version = sent?.version, version != row.version else { return nil }
            return profile.bodyVersionCounts ? .versionConflict(row) : nil
        }
    }

    /// The outcome of a request whose header fields do not fit the row; nil when it may go on.
    func failedValidator(_ row: Row) -> Outcome? {
        let conditions = Conditions(
            datasync: call.request.head.headerFields,
            profile.flavour == .toolkit ? .toolkit : .datasync, deletes: call.method == .delete)
        let isRead = call.method == .get || call.method == .head
        return switch conditions.verdict(versions: [row.version], changed: row.updatedAt) {
        case .holds: nil
        case .known where isRead: .notModified(row)
        case .known, .fails: .preconditionFailed(row)
        }
    }

    private func firstMismatch(_ row: Row, _ table: StoredTable) -> Outcome? {
        do {
            guard let version = try firstCondition(table.options) else { return nil }
            return version == row.version ? nil : .preconditionFailed(row)
        } catch {
            return .refused(error)
        }
    }

    /// The Node server strips quotes and knows neither `*` nor weak tags.
    private func nodeAccepts(_ field: String, _ row: Row) -> Bool {
        var text = field[...]
        if text.hasPrefix("\"") { text = text.dropFirst() }
        if text.hasSuffix("\"") { text = text.dropLast() }
        return text.replacing("\\\"", with: "\"") == row.version
    }

    /// The outcome of an update or replace of a deleted item; nil when it may go on.
    func refuseDeleted(_ row: Row) -> Outcome? {
        let includes =
            profile.includesDeletedByID && includesDeleted && profile.flavour != .datasync
            && profile.generation != .mobileServices
        guard row.deleted, !includes else { return nil }
        switch profile.writeDeleted {
        case .missing: return .missing(id: row.id)
        case .gone: return .gone(id: row.id)
        case .conflict: return .preconditionFailed(row)
        case .found: return nil
        }
    }

    /// The outcome of deleting what is deleted already.
    func deletedTwice(_ row: Row) -> Outcome? {
        switch profile.flavour {
        case .node, .express:
            return call.field(.ifMatch) == nil ? .versionConflict(row) : .preconditionFailed(row)
        case .mobileServices:
            // A version that fits is compared with a deleted row's all the same, and never fits.
            let hasCondition = (try? firstCondition(TableOptions())) != nil
            return hasCondition ? .preconditionFailed(row) : .missing(id: row.id)
        case .mobileApps, .dotnet: return .missing(id: row.id)
        case .datasync, .toolkit: return .gone(id: row.id)
        }
    }

    /// The refusal of a body whose id is not that of the path.
    func idMismatch(_ sent: Sent, _ id: String) -> Refusal? {
        if profile.generation == .mobileServices { return firstIDMismatch(sent, id) }
        if profile.isNode, let refusal = nodeIDMismatch(sent, id) { return refusal }
        guard let other = sent.id else {
            return profile.generation == .datasync && call.method == .put
                ? Refusal(400, "", as: .empty) : nil
        }
        guard other != id else { return nil }
        switch profile.errors {
        case .codeAndError, .error, .message, .problem:
            return Refusal(400, "The item ID and querystring ID did not match")
        case .empty: return Refusal(400, "", as: .empty)
        }
    }

    private func nodeIDMismatch(_ sent: Sent, _ id: String) -> Refusal? {
        switch sent.all["id"]?.value {
        case .null?: Refusal(500, "Cannot read properties of null (reading 'toString')")
        case .string("")?: Refusal(400, "The item ID and querystring ID did not match")
        default: nil
        }
    }

    /// The outcome of a PATCH that sets no column: the first generation changes nothing, the Node
    /// server of the second writes broken SQL, the others only move the version.
    func withoutColumns(
        _ row: Row, _ sent: Sent, _ kept: Kept, _ undeletes: Bool
    ) throws(Refusal) -> Outcome? {
        guard kept.columns.isEmpty, !undeletes else { return nil }
        switch profile.flavour {
        case .mobileServices: return .changed(row, sent: sent.all, kept.table)
        case .node, .express:
            throw Refusal(500, "SQLITE_ERROR: near \"WHERE\": syntax error")
        case .mobileApps, .dotnet, .datasync, .toolkit: return nil
        }
    }

    /// Whether the request asks for deleted items too; each server spells it its own way.
    var includesDeleted: Bool {
        if profile.generation == .mobileServices {
            // A repeated pair is a list there, and no list is true.
            let given = call.parameters.filter { $0.name.lowercased() == "__includedeleted" }
            return given.count == 1 && given[0].value.lowercased() == "true"
        }
        if profile.isNode { return !(call.parameter("__includeDeleted") ?? "").isEmpty }
        if call.field("X-ZUMO-Options") == "include:deleted" { return true }
        return call.parameter(anyCase: "__includeDeleted")?.lowercased() == "true"
    }
}

// Writes.
extension TableRequest {
    /// `POST /tables/{table}`.
    func insert(_ name: TableName) throws -> Outcome {
        guard let options = found(name)?.options ?? self.options.dynamicTable else {
            throw noTable(name)
        }
        let sent = try sent(options)
        if let id = sent.id { try check(id: id, options) }
        let table = try table(name, creating: true)
        let owner = try owner(in: table)
        let kept = try kept(
            scripted(owner?.added(to: sent.columns) ?? sent.columns, over: nil, name), table)
        let columns = withDefaults(kept.columns, table)
        if try sent.id.flatMap({ try storage.get($0, in: name) }) == nil {
            try constraints.check(kept.table, sent.id, columns)
        }
        var row = NewRow(id: newID(sent, table), columns: columns, version: newVersion())
        row.reusesNumbers = self.options.table(name)?.reusesIDs ?? false
        if profile.isNode, let version = sent.version {
            row.version = Base64.encoded(version.utf8)
        }
        if profile.generation == .datasync { row.deleted = sent.deleted ?? false }
        let insertion = try storage.insert(
            row, into: name, creating: table.options, write(adding: kept.new))
        return switch insertion {
        case .inserted(let row):
            .inserted(row, sent: scripted(sent.all, over: nil, name), kept.table)
        case .exists(let row) where owner?.owns(row) == false:
            .refused(Refusal(409, "An item with this id exists."))
        case .exists(let row): .exists(row, sent: call.request.body)
        case .overtaken: .overtaken
        }
    }

    /// `PATCH /tables/{table}/{id}`.
    func update(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        if let refusal = idMismatch(sent, id) { throw refusal }
        if profile.generation == .mobileServices, sent.all.names.allSatisfy({ $0 == "id" }),
            try firstCondition(table.options) == nil
        {
            return .unchanged(id: id)
        }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if let refusal = changesSystemProperties(sent, row) { throw refusal }
        let undeletes = profile.undelete == .patch && sent.deleted == false && row.deleted
        if !undeletes, let outcome = refuseDeleted(row) { return outcome }
        if let outcome = mismatch(row, sent, table) { return outcome }
        if let patch = sent.patch {
            if patch.operations.contains(where: { $0.action == .test }) { try checkAsking(name) }
            try check(patch, row)
        }
        let owner = try owner(in: table)
        let kept = try kept(
            scripted(owner?.removed(from: sent.columns) ?? sent.columns, over: row, name), table)
        if let outcome = try withoutColumns(row, sent, kept, undeletes) { return outcome }
        let columns = try merged(row, kept)
        var deleted = row.deleted
        if let mark = sent.deleted, profile.generation != .mobileServices { deleted = mark }
        return try change(
            row, to: columns, deleted: deleted, as: undeletes ? .undelete : .update, sent, kept)
    }

    /// `PATCH /tables/{table}`: the Node server takes the id from the body.
    func updateByBody(_ name: TableName) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        guard let id = sent.id else {
            if sent.columns.isEmpty {
                throw Refusal(500, "SQLITE_ERROR: near \"WHERE\": syntax error")
            }
            return .missing(id: "")
        }
        return try update(name, id)
    }

    /// `PUT /tables/{table}/{id}`: what the body leaves out is gone. Columns that the client cannot see stay.
    func replace(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        if let refusal = idMismatch(sent, id) { throw refusal }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if let outcome = refuseDeleted(row) { return outcome }
        if let outcome = mismatch(row, sent, table) { return outcome }
        let owner = try owner(in: table)
        let kept = try kept(
            scripted(owner?.added(to: sent.columns) ?? sent.columns, over: row, name), table)
        let deleted = sent.deleted ?? false
        var columns = withDefaults(kept.columns, table)
        columns.merge(
            Columns(row.columns.all.filter { profile.hides($0.name, table.options.idKind) }))
        let kind = row.deleted && !deleted ? EffectKind.undelete : .replace
        return try change(row, to: columns, deleted: deleted, as: kind, sent, kept)
    }

    /// `POST /tables/{table}/{id}`.
    func undelete(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        if profile.generation == .mobileServices {
            if !table.options.softDelete || table.isPlain(profile.generation) {
                throw Refusal(400, "The undelete operation is not supported on this table.")
            }
            if !call.request.body.isEmpty {
                throw Refusal(400, "An undelete request must not have content.")
            }
            _ = try firstCondition(table.options)
        }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if let outcome = mismatch(row, nil, table) { return outcome }
        try constraints.check(table, row.id, row.columns)
        let change = RowChange(
            old: row, columns: row.columns, deleted: false, version: newVersion())
        let rows = try storage.change([change], in: name, as: .undelete, write())
        return rows.map { Outcome.undeleted($0[0]) } ?? .overtaken
    }

    private var constraints: TableConstraints {
        TableConstraints(storage: storage, options: options, method: call.method.rawValue)
    }

    /// The columns of a write after the table's scripts.
    private func scripted(_ sent: Columns, over row: Row?, _ name: TableName) -> Columns {
        let scripts = options.table(name)?.scripts ?? []
        var columns = sent
        if scripts.contains(.trim) {
            columns = Columns(
                sent.all.map { column in
                    guard let text = column.value.string else { return column }
                    let trimmed = text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
                    return Columns.Column(column.name, .string(String(trimmed)))
                })
        }
        if scripts.contains(.owner) {
            columns["owner"] = row?.columns["owner"] ?? .string("the script")
        }
        if scripts.contains(.counter) {
            let before = row?.columns["changes"]?.value.integer ?? 0
            columns["changes"] = .integer(before + 1)
        }
        return columns
    }

    /// Gives a row what an update or a replacement makes of it. One that deletes the item or brings it back needs
    /// what its own method would need.
    private func change(
        _ row: Row, to columns: Columns, deleted: Bool, as kind: EffectKind, _ sent: Sent,
        _ kept: Kept
    ) throws -> Outcome {
        let name = kept.table.name
        if deleted != row.deleted { try check(deleted ? .delete : .undelete, name) }
        if deleted, !row.deleted { try constraints.checkReferences(to: [row], in: name) }
        if !deleted { try constraints.check(kept.table, row.id, columns) }
        let change = RowChange(old: row, columns: columns, deleted: deleted, version: newVersion())
        let rows = try storage.change([change], in: name, as: kind, write(adding: kept.new))
        guard let changed = rows?.first else { return .overtaken }
        return .changed(changed, sent: scripted(sent.all, over: row, name), kept.table)
    }

    /// The id of a new row; nil where the storage numbers them.
    private func newID(_ sent: Sent, _ table: StoredTable) -> String? {
        switch table.options.idKind {
        case .integer: nil
        case .string:
            sent.id ?? random.id(profile.flavour == .dotnet ? .datasync : profile.generation)
        }
    }

    /// A version at random; nil where the storage makes its own.
    func newVersion() -> String? {
        switch options.versions {
        case .counter: nil
        case .random: Base64.encoded(random.bytes(16))
        }
    }

    /// The values that all rows of the request's write share.
    func write(adding columns: [TableOptions.Column] = []) -> Write {
        Write(
            at: now, stamps: options.stamps, newColumns: columns, method: call.method.rawValue,
            idempotencyKey: call.field("Idempotency-Key"), owner: owningUser, isKept: isKept)
    }

    /// The user whose rows alone the request's write changes; nil where the table's rows are for all.
    private var owningUser: String? {
        guard let name = call.tableName,
            let table = known
                ?? options.table(name).map({ StoredTable(name: name, options: $0) })
        else { return nil }
        return (try? owner(in: table))?.user
    }
}

extension TableRequest {
    /// `DELETE /tables/{table}/{id}`.
    func delete(_ name: TableName, _ id: String) throws -> Outcome {
        let table = try table(name)
        if profile.generation == .mobileServices { _ = try firstCondition(table.options) }
        guard let row = try find(table, id) else { return .missing(id: id) }
        if row.deleted, let outcome = deletedTwice(row) { return outcome }
        if let outcome = mismatch(row, nil, table) { return outcome }
        return try delete([row], table).map { Outcome.deleted($0[0]) } ?? .overtaken
    }

    /// `DELETE /tables/{table}?$filter=…`: only the Node server deletes so.
    func deleteByFilter(_ name: TableName) throws -> Outcome {
        let table = try table(name)
        try checkAsking(name)
        var query = try ListQuery(call, profile)
        guard query.filter != nil else { throw Refusal(500, "SQLITE_ERROR: incomplete input") }
        let owner = try owner(in: table)
        if let owner { query.keepOnly(owner) }
        let list = TableReads(request: self).rowQuery(
            name, query, limit: .max, includesDeleted: false)
        let rows = try storage.list(list).rows.filter {
            owner?.owns($0) ?? true && mismatch($0, nil, table) == nil
        }
        if rows.isEmpty { return .missing(id: "") }
        guard let deleted = try delete(rows, table) else { return .overtaken }
        return deleted.count == 1 ? .deleted(deleted[0]) : .deletedAll(deleted)
    }

    /// Deletes rows as the table does: softly, or for good.
    /// - Returns: nil when another writer was faster; then none is deleted.
    private func delete(_ rows: [Row], _ table: StoredTable) throws -> [Row]? {
        try constraints.checkReferences(to: rows, in: table.name)
        guard table.options.softDelete, !table.isPlain(profile.generation) else {
            return try storage.remove(rows, from: table.name, write()) ? rows : nil
        }
        let changes = rows.map {
            RowChange(old: $0, columns: $0.columns, deleted: true, version: newVersion())
        }
        return try storage.change(changes, in: table.name, as: .delete, write())
    }
}
