package import Storage
package import TablesProtocol

/// A row of the columns ``itemColumns``, which are read by their places: there are many rows.
extension StatementRow: StoredItem {
    /// The columns of an item as a client sees it.
    static let itemColumns = "id, columns, created_at, stamp, version, deleted"
    /// How many those are.
    static let itemColumnCount = 6

    package var createdAt: Instant? { (self[2] as Int64?).map { Instant(milliseconds: $0) } }
    package var updatedAt: Instant { Instant(milliseconds: integer(3)) }
    package var deleted: Bool { integer(5) != 0 }

    package var hasNumberAsID: Bool { Int64(text(0)) != nil }

    package func appendID(to bytes: inout [UInt8]) { append(0, to: &bytes) }
    package func appendColumns(to bytes: inout [UInt8]) { append(1, to: &bytes) }
    package func appendVersion(to bytes: inout [UInt8]) { append(4, to: &bytes) }

    /// The row as a value of its own.
    func item(_ idKind: IDKind) -> Item {
        Item(
            id: ItemID(stored: text(0), kind: idKind), columns: Columns(stored: text(1)),
            createdAt: createdAt, updatedAt: updatedAt, version: text(4), deleted: deleted)
    }
}
