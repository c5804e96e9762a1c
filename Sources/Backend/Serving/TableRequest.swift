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
            if profile.generation == .mobileServices { try checkFirst() }
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
        case .get: return try list(name)
        case .head where !profile.isNode: return try list(name)
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
        case .get: return try get(name, id)
        case .head where !profile.isNode: return try get(name, id)
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

/// The outcome of a request on a table; ``Answerer`` makes the response.
enum Outcome: Sendable {
    case list(RowPage)
    case found(Row)
    case notModified(Row)
    /// With the table, which may have new columns.
    case inserted(Row, sent: Columns, StoredTable)
    /// With the table, which may have new columns.
    case changed(Row, sent: Columns, StoredTable)
    /// Nothing was to be changed, and nothing was looked up.
    case unchanged(id: String)
    case deleted(Row)
    /// More than one at once.
    case deletedAll([Row])
    case undeleted(Row)
    case exists(Row, sent: [UInt8])
    case preconditionFailed(Row)
    case versionConflict(Row)
    case missing(id: String)
    case gone(id: String)
    case refused(Refusal)
    /// Another writer was faster, and nothing was written: the request has to be decided anew.
    case overtaken
}

/// One page of a list.
struct RowPage: Sendable {
    /// The rows.
    var rows: [Row]
    /// The number of matching rows regardless of skip and top; nil when it was not asked for.
    var count: Int?
    /// The number of rows that were skipped.
    var skip: Int
    /// The `$top` asked for.
    var top: Int?
    /// The `$select` asked for.
    var select: Set<String>?
    /// Whether more rows match than skip and this page.
    var hasMore: Bool
    /// The id in the link to the next page, where lists are paged by links alone.
    var continuation: String?
    /// See ``RowList/deletionsAfter``.
    var deletionsAfter: Instant?

    /// The name of the link's pair for that id.
    static let continuationName = "NextRowKey"
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

// What a unique index and a foreign key of the table's database refuse. The rows are read before the write and
// not in its transaction: this is for trying things out and for tests.
extension TableRequest {
    /// Refuses columns of which another row that is not deleted has a value of its own, and those that name a
    /// row which another table does not have. A null is no value.
    /// - Parameter id: the id of the row that gets the columns; nil for one that the storage numbers.
    func checkConstraints(_ table: StoredTable, _ id: String?, _ columns: Columns) throws {
        guard let options = options.table(table.name) else { return }
        for column in options.uniqueColumns {
            guard let value = columns.value(of: table.spelling(column)) else { continue }
            let isTaken = try storage.rows(in: table.name).contains { row in
                row.id != id && !row.deleted
                    && row.columns.value(of: table.spelling(column))?.isSame(as: value) == true
            }
            if isTaken { throw Refusal.notUnique(column, of: table.name) }
        }
        for (column, parent) in options.references.sorted(by: { $0.key < $1.key }) {
            guard let value = columns.value(of: table.spelling(column)) else { continue }
            let id = value.string ?? value.text
            if try storage.get(id, in: parent)?.deleted ?? true {
                throw Refusal.noParent(call.method.rawValue, column, of: table.name, parent)
            }
        }
    }

    /// Refuses to delete rows that rows of other tables name.
    func checkReferences(to rows: [Row], in table: TableName) throws {
        let ids = Set(rows.map(\.id))
        for (name, options) in options.tables.sorted(by: { $0.key.text < $1.key.text }) {
            let columns = options.references.keys.filter { options.references[$0] == table }
                .sorted()
            for column in columns {
                guard let child = try storage.table(name) else { continue }
                let isNamed = try storage.rows(in: name).contains { row in
                    let value = row.columns.value(of: child.spelling(column))
                    return !row.deleted && value.map { ids.contains($0.string ?? $0.text) } == true
                }
                if isNamed { throw Refusal.isParent(of: name, column) }
            }
        }
    }
}

extension Columns {
    fileprivate func value(of name: String) -> JSONText? {
        self[name].flatMap { $0.isNull ? nil : $0 }
    }
}

// In the words of SQL Server.
extension Refusal {
    fileprivate static func notUnique(_ column: String, of table: TableName) -> Refusal {
        Refusal(
            409,
            "Violation of UNIQUE KEY constraint 'UQ_\(table)_\(column)'. Cannot insert duplicate key in "
                + "object '\(table)'.")
    }

    fileprivate static func noParent(
        _ method: String, _ column: String, of table: TableName, _ parent: TableName
    ) -> Refusal {
        let statement = method == "POST" ? "INSERT" : "UPDATE"
        return Refusal(
            409,
            "The \(statement) statement conflicted with the FOREIGN KEY constraint "
                + "'FK_\(table)_\(column)' to table '\(parent)'.")
    }

    fileprivate static func isParent(of table: TableName, _ column: String) -> Refusal {
        Refusal(
            409,
            "The DELETE statement conflicted with the REFERENCE constraint 'FK_\(table)_\(column)'."
        )
    }
}
