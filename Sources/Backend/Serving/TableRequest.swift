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

    /// The name of the link's pair for that id.
    static let continuationName = "NextRowKey"
}
