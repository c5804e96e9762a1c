import TablesProtocol

/// The SDKs' system tables, which are shown read-only under their own names.
enum SDKView: String, Sendable, CaseIterable {
    case operations = "MS_TableOperations"
    case errors = "MS_TableOperationErrors"
    case config = "MS_TableConfig"

    /// The view that a table's name means; nil for a user's table.
    init?(_ table: TableName) {
        guard let view = Self.byKey[table.key] else { return nil }
        self = view
    }

    private static let byKey = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    /// The view that has the columns of an item, so that it is queried as every table is.
    var itemsView: String { rawValue + "_items" }
}
