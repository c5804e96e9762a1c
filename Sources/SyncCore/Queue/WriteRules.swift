import TablesProtocol

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
