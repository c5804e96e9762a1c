public import HTTPTypes
public import TablesProtocol

public enum WriteAction: Sendable {
    case insert(ItemBody)
    /// Sets these columns and keeps the others.
    case update(ItemID, Columns)
    case replace(ItemID, Columns)
    /// Replaces all columns and undeletes the item: the undelete of the Community Toolkit.
    case restore(ItemID, Columns)
    /// Sets these columns, and deletes or undeletes the item: a Datasync PATCH that contains `deleted`.
    case patch(ItemID, Columns, deleted: Bool)
    case delete(ItemID)
    case undelete(ItemID)
}

public struct LocalWrite: Sendable {
    public var table: TableName
    public var action: WriteAction
    /// The conditions on the item's present state, such as If-Match.
    public var conditions: Conditions
    /// System properties in the client's body, which must equal the item's.
    public var stated: ItemBody.Stated
    public var generation: Generation
    /// The client's custom query pairs, sent to the backend unchanged.
    public var parameters: [QueryParameter]
    /// The client's header fields that are sent to the backend.
    public var headers: HTTPFields
    /// The client's trace, sent to the backend.
    public var trace: Trace?
    public var actor: Actor
    /// Whether the caller will ask the engine to send it (``SyncEngine/send(_:answer:)``). No push takes it before.
    public var isAwaited = false

    public init(
        table: TableName, action: WriteAction, conditions: Conditions = Conditions(),
        stated: ItemBody.Stated = ItemBody.Stated(), generation: Generation = .mobileApps,
        parameters: [QueryParameter] = [], headers: HTTPFields = [:],
        trace: Trace? = nil, actor: Actor = .client
    ) {
        self.table = table
        self.action = action
        self.conditions = conditions
        self.stated = stated
        self.generation = generation
        self.parameters = parameters
        self.headers = headers
        self.trace = trace
        self.actor = actor
    }

    var isConditional: Bool { !conditions.isEmpty }

    /// The second part of a write whose conditions were checked with the first part.
    var judged: LocalWrite {
        var rest = self
        rest.conditions = Conditions()
        rest.stated = ItemBody.Stated()
        return rest
    }
}

/// The operation that contains the change of a local write.
public struct WrittenOperation: Sendable, Hashable {
    /// The operation's id.
    public var id: OperationID
    /// Whether the write made or changed the operation. If not, an earlier write of the item has made the
    /// same change.
    public var isOwn: Bool
    /// The item's version before the write; nil if there was no item, or the write is not in the operation.
    public var earlierVersion: String?
}

/// The outcome of a local write. The first four are on disk when they are returned. They have the operation
/// that contains the change; it is nil if the write changed nothing and no open operation has its change.
public enum WriteOutcome: Sendable, Hashable {
    case inserted(Item, WrittenOperation?)
    case updated(Item, WrittenOperation?)
    case deleted(Item, WrittenOperation?)
    case undeleted(Item, WrittenOperation?)
    case missing
    /// The item is deleted; its tombstone is left.
    case gone(Item)
    /// A condition of the write does not hold for the item.
    case preconditionFailed(Item)
    case alreadyExists(Item)
    /// The item is not in the store, and before the first pull it is unknown whether it exists.
    case unknownWhilePartial
    /// The operator restricts the tables, and this table is not allowed.
    case tableNotAllowed
    /// The write is invalid, for this reason.
    case invalid(String)
    /// The disk is full, or the store's budget is used up; nothing was written.
    case storageFull(byBudget: Bool)
    /// The store cannot be written; nothing was written.
    case readOnly
    /// Too many writes are waiting; nothing was written.
    case busy
    /// The store failed, for this reason; nothing was written.
    case failed(String)
}

extension WriteOutcome {
    /// Whether the write took effect.
    public var isSuccess: Bool { item != nil }

    /// The item after a successful write; nil for other outcomes.
    public var item: Item? { written?.item }

    /// The operation that contains the change of a successful write; nil without one.
    public var operation: WrittenOperation? { written?.operation }

    private var written: (item: Item, operation: WrittenOperation?)? {
        switch self {
        case .inserted(let item, let operation), .updated(let item, let operation),
            .deleted(let item, let operation), .undeleted(let item, let operation):
            (item, operation)
        case .missing, .gone, .preconditionFailed, .alreadyExists, .unknownWhilePartial,
            .tableNotAllowed, .invalid, .storageFull, .readOnly, .busy, .failed:
            nil
        }
    }

    /// The same outcome with another item; one that was no success stays as it is.
    public func with(_ item: Item) -> WriteOutcome {
        switch self {
        case .inserted(_, let operation): .inserted(item, operation)
        case .updated(_, let operation): .updated(item, operation)
        case .deleted(_, let operation): .deleted(item, operation)
        case .undeleted(_, let operation): .undeleted(item, operation)
        default: self
        }
    }
}

extension WrittenOperation {
    /// The operation that contains the change of a write without effect: the last of the item's open
    /// operations; nil if there is none.
    init?(lastOf chain: [TableOperation]) {
        guard let last = chain.last else { return nil }
        self.init(id: last.id, isOwn: false)
    }
}

/// What the operator allows writes to do.
struct WriteRules: Sendable {
    /// The only tables that may be written; nil for any.
    var tables: Set<TableName>?
    /// Whether to refuse what the SDKs' queues refuse.
    var strictSDK = false
    /// Whether a change of an operation leaves it at its place in the queue, although another item was
    /// inserted since: a person edits that operation, or sets back what it changed.
    var keepsPlace = false

    func allows(_ table: TableName) -> Bool {
        SDKView(table) == nil && (tables?.contains(table) ?? true)
    }
}

extension LocalWrite {
    /// Whether the write's conditions hold for the row as clients see it.
    /// - Parameter earlier: the client's earlier write, whose version counts as the row's.
    func holds(for row: ItemRow, in table: TableRecord, after earlier: OwnWrite? = nil) -> Bool {
        var conditions = conditions
        if let earlier, case .versions = conditions.ifMatch,
            conditions.ifMatch.accepts(earlier.version)
        {
            conditions.ifMatch = .any
        }
        let changed = Instant(milliseconds: earlier?.stamp ?? row.stamp)
        return conditions.verdict(versions: row.knownVersions, changed: changed) == .holds
            && conditions.tests.allSatisfy { holds($0, for: row, in: table, after: earlier) }
    }

    /// Whether a member of the item has the value of a JSON Patch test. A column that the item does not
    /// have is null.
    private func holds(
        _ test: Columns.Column, for row: ItemRow, in table: TableRecord, after earlier: OwnWrite?
    ) -> Bool {
        if test.name.lowercased() == "id" {
            return test.value.value.integer.map(String.init) ?? test.value.string == row.id.text
        }
        switch SystemProperty(named: test.name, in: generation) {
        case .version:
            return test.value.string.map { row.isKnown(as: $0, after: earlier) } ?? false
        case .updatedAt:
            return [row.stamp, earlier?.stamp].compactMap(\.self).contains {
                test.value.isSame(as: .string(Instant(milliseconds: $0).text))
            }
        case .createdAt:
            return row.item.createdAt.map { test.value.isSame(as: .string($0.text)) }
                ?? test.value.isNull
        case .deleted: return test.value.isSame(as: .bool(row.deleted))
        case nil:
            let name = table.spellings.spelling(of: test.name)
            return (row.columns[name] ?? .null).isSame(as: test.value)
        }
    }
}

extension ItemRow {
    /// Whether a client may know the row, or its own earlier write to it, by a version.
    fileprivate func isKnown(as version: String, after earlier: OwnWrite?) -> Bool {
        (knownVersions + [earlier?.version].compactMap(\.self)).contains(
            where: IfMatch.versions([version]).accepts)
    }
}

extension ItemBody.Stated {
    /// A sentence about the first stated property that differs from the row; nil if none differs.
    /// - Parameter earlier: the client's earlier write, whose properties count as the row's.
    func contradiction(to row: ItemRow, after earlier: OwnWrite?) -> String? {
        if let version, !row.isKnown(as: version, after: earlier) {
            return "The version cannot be changed."
        }
        guard let stated = updatedAt?.milliseconds, stated != row.stamp,
            stated != earlier?.stamp
        else { return nil }
        let theirs = row.pending == nil ? row.serverUpdatedAt : nil
        let isTheirs = theirs.flatMap { Instant(parsing: $0) }?.milliseconds == stated
        return isTheirs ? nil : "The time of the last change cannot be changed."
    }
}

/// The columns that an operation sends.
struct Change: Sendable, Hashable {
    /// The names of the user's columns that differ from the base.
    var changedColumns: [String]
    /// All columns for insert and replace, the changed ones for update. For a delete, those of the update
    /// that was merged into it: they are not sent with it, but an undelete sends them. Nil otherwise.
    var payload: Columns?

    /// Compares by JSON value, dates with their offsets and all their digits too. An absent column equals
    /// null, so a column that was removed is sent as null.
    init(_ kind: OperationKind, columns: Columns, base: Columns?) {
        switch kind {
        case .insert:
            changedColumns = columns.names
            payload = columns
        case .replace:
            changedColumns = columns.writtenNames(from: base ?? Columns())
            payload = columns
        case .update, .delete:
            changedColumns = columns.writtenNames(from: base ?? Columns())
            let changed = columns.picking(changedColumns)
            payload = kind == .delete && changed.isEmpty ? nil : changed
        case .undelete:
            changedColumns = []
        }
    }
}

extension TableOperation {
    /// Sets what is sent from the item's new columns.
    mutating func setChange(to columns: Columns) {
        let change = Change(kind, columns: columns, base: baseRow)
        changedColumns = change.changedColumns
        // A late arrival of the earlier insert would now bring other columns.
        if mayArriveLate, payload?.text != change.payload?.text { hasGeneratedID = false }
        payload = change.payload
        title = ItemTitle.of(columns) ?? title
    }

    /// Whether sending the operation would change nothing.
    var changesNothing: Bool {
        switch kind {
        case .update, .replace: changedColumns.isEmpty
        case .insert, .delete, .undelete: false
        }
    }
}
