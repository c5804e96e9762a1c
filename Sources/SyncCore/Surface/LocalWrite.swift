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
        case delete(ItemID)
        case undelete(ItemID)
    }

    /// The table.
    public var table: TableName
    /// What is done.
    public var action: Action
    /// The condition on the item's version.
    public var ifMatch: IfMatch
    /// The versions that it is not meant for.
    public var ifNoneMatch: IfMatch
    /// The time after which the item must not have been changed.
    public var unmodifiedSince: Instant?
    /// The version in the body, where the client's generation checks it.
    public var bodyVersion: String?
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
        table: TableName, action: Action, ifMatch: IfMatch = .absent,
        ifNoneMatch: IfMatch = .absent, unmodifiedSince: Instant? = nil,
        bodyVersion: String? = nil, generation: Generation = .mobileApps,
        parameters: [QueryParameter] = [], headers: HTTPFields = [:],
        traceparent: String? = nil, actor: Actor = .client
    ) {
        self.table = table
        self.action = action
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.unmodifiedSince = unmodifiedSince
        self.bodyVersion = bodyVersion
        self.generation = generation
        self.parameters = parameters
        self.headers = headers
        self.traceparent = traceparent
        self.actor = actor
    }

    /// Whether the client made it depend on the item's state.
    var isConditional: Bool {
        ifMatch != .absent || ifNoneMatch != .absent || unmodifiedSince != nil
    }
}
