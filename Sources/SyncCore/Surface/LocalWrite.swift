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
    /// Who writes.
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
