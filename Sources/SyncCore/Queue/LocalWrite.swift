public import HTTPTypes
public import TablesProtocol

/// One write of a client or a person.
public struct LocalWrite: Sendable {
    /// What is done.
    public enum Action: Sendable {
        case insert(ItemBody)
        /// Sets these columns and keeps the others.
        case update(ItemID, Columns)
        /// Makes these the columns.
        case replace(ItemID, Columns)
        /// The same, and brings a deleted item back: how the Community Toolkit undeletes.
        case restore(ItemID, Columns)
        /// Sets these columns, and deletes the item or brings it back: PATCH of Datasync with the mark
        /// `deleted`.
        case patch(ItemID, Columns, deleted: Bool)
        case delete(ItemID)
        case undelete(ItemID)
    }

    /// The table.
    public var table: TableName
    /// What is done.
    public var action: Action
    /// What the state of the item is a condition of.
    public var conditions: Conditions
    /// What the client says that the item is; it must be so.
    public var stated: ItemBody.Stated
    /// The client's generation.
    public var generation: Generation
    /// The client's custom query pairs, sent on as they came.
    public var parameters: [QueryParameter]
    /// Header fields of the client that are sent on.
    public var headers: HTTPFields
    /// The client's trace, sent on.
    public var traceparent: String?
    /// The writer.
    public var actor: Actor

    /// Makes a write from its parts.
    public init(
        table: TableName, action: Action, conditions: Conditions = Conditions(),
        stated: ItemBody.Stated = ItemBody.Stated(), generation: Generation = .mobileApps,
        parameters: [QueryParameter] = [], headers: HTTPFields = [:],
        traceparent: String? = nil, actor: Actor = .client
    ) {
        self.table = table
        self.action = action
        self.conditions = conditions
        self.stated = stated
        self.generation = generation
        self.parameters = parameters
        self.headers = headers
        self.traceparent = traceparent
        self.actor = actor
    }

    /// Whether the client made it depend on the item's state.
    var isConditional: Bool { !conditions.isEmpty }

    /// What is left to do of a write whose conditions were judged with its first part.
    var judged: LocalWrite {
        var rest = self
        rest.conditions = Conditions()
        rest.stated = ItemBody.Stated()
        return rest
    }
}

/// How a local write ended. The first four are durable when they are told.
public enum WriteOutcome: Sendable, Hashable {
    case inserted(Item)
    case updated(Item)
    case deleted(Item)
    case undeleted(Item)
    /// There is no such item.
    case missing
    /// Only the tombstone is left.
    case gone(Item)
    /// The item is not as the write's conditions want it.
    case preconditionFailed(Item)
    /// An insert of an id that is taken.
    case alreadyExists(Item)
    /// The item is not here, and until the first pull it is not known whether it exists.
    case unknownWhilePartial
    /// Tables are restricted and this is none of them.
    case tableNotAllowed
    /// The write makes no sense, for this reason.
    case invalid(String)
    /// The disk is full, or the store's budget is used up; nothing was written.
    case storageFull(byBudget: Bool)
    /// The store cannot be written; nothing was.
    case readOnly
    /// Too many writes wait already; nothing was written.
    case busy
    /// The store failed, for this reason; nothing was written.
    case failed(String)
}

/// What the operator allows writes to do.
struct WriteRules: Sendable {
    /// The only tables that may be written; nil for any.
    var tables: Set<TableName>?
    /// Refuse what the SDKs' queues refuse.
    var strictSDK = false

    func allows(_ table: TableName) -> Bool {
        SDKView(table) == nil && (tables?.contains(table) ?? true)
    }
}

extension LocalWrite {
    /// Whether the write's conditions hold for the row as clients see it.
    func holds(for row: ItemRow, in table: TableRecord) -> Bool {
        let changed = Instant(milliseconds: row.stamp)
        return conditions.verdict(versions: row.knownVersions, changed: changed) == .holds
            && conditions.tests.allSatisfy { holds($0, for: row, in: table) }
    }

    /// Whether a member of the item has the value that a JSON Patch tests it for; a column that the
    /// item does not have is null.
    private func holds(
        _ test: Columns.Column, for row: ItemRow, in table: TableRecord
    ) -> Bool {
        if test.name.lowercased() == "id" {
            return test.value.value.integer.map(String.init) ?? test.value.string == row.id.text
        }
        switch SystemProperty(named: test.name, in: generation) {
        case .version:
            return test.value.string.map { IfMatch.versions([$0]) }.map {
                row.knownVersions.contains(where: $0.accepts)
            } ?? false
        case .updatedAt: return test.value.isSame(as: .string(row.item.updatedAt.text))
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

extension ItemBody.Stated {
    /// One sentence about what the row is not as stated; nil when it is.
    func contradiction(to row: ItemRow) -> String? {
        if let version, !row.knownVersions.contains(where: IfMatch.versions([version]).accepts) {
            return "The version cannot be changed."
        }
        guard let stated = updatedAt?.milliseconds, stated != row.stamp else { return nil }
        let theirs = row.pending == nil ? row.serverUpdatedAt : nil
        let isTheirs = theirs.flatMap { Instant(parsing: $0) }?.milliseconds == stated
        return isTheirs ? nil : "The time of the last change cannot be changed."
    }
}
