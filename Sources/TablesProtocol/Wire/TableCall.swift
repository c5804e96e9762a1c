/// What a request on `/tables/…` asks for, taken from the wire form of any generation.
public struct TableCall: Sendable {
    /// What is to be done.
    public enum Verb: Sendable {
        case list(TableQuery)
        /// The query's select alone counts.
        case get(ItemID, TableQuery)
        case insert(ItemBody)
        /// PATCH: only the columns in the body change; its mark `deleted` deletes or brings back.
        case update(ItemID, ItemBody)
        /// PUT: columns that the body leaves out go.
        case replace(ItemID, ItemBody)
        case delete(ItemID)
        case undelete(ItemID)
    }

    /// The table, as the client spelled it.
    public var table: TableName
    /// What is to be done.
    public var verb: Verb
    /// What the request makes the state of its item a condition of; none for lists and inserts.
    public var conditions: Conditions
    /// The SDK that asks; it decides the shape of the answer.
    public var client: ClientFamily
    /// System properties that the answer shows: those asked for in the first generation, else all.
    public var systemProperties: Set<SystemProperty>
    /// Whether deleted items are meant as well.
    public var includeDeleted: Bool
    /// The client's own query pairs, in order as they came, to be sent on.
    public var parameters: [QueryParameter]
    /// How the client addressed the table; links in the answer are made of it.
    public var origin: CallOrigin

    /// The generation of the client.
    public var generation: Generation { client.generation }
}
