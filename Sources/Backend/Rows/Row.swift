import TablesProtocol

/// A row as it is stored: the text of its JSON and what the server keeps beside it.
package struct Row: Sendable, Hashable {
    /// The id as text; decimal digits in a table with integer ids.
    var id: String
    /// The user's columns.
    var columns: Columns
    /// When it was inserted.
    var createdAt: Instant
    /// When it last changed.
    var updatedAt: Instant
    /// What clients compare, base64.
    var version: String
    /// Whether it is softly deleted.
    var deleted: Bool
}

/// A row that is to be inserted.
package struct NewRow: Sendable {
    /// Its id; nil for the next number of a table with integer ids.
    var id: String?
    /// The user's columns.
    var columns: Columns
    /// Whether it begins as a tombstone.
    var deleted = false
    /// Its version; nil for the storage's own.
    var version: String?
}

/// What came of an insert.
package enum Insertion: Sendable, Hashable {
    case inserted(Row)
    /// A row with this id is there, deleted or not. Nothing was written.
    case exists(Row)
    /// A new column is there by now with another type or in another spelling. Nothing was written.
    case overtaken
}

/// What a row becomes.
package struct RowChange: Sendable {
    /// The row as it was read. It is changed only when it still is so.
    var old: Row
    /// The user's columns afterwards.
    var columns: Columns
    /// Whether it is softly deleted afterwards.
    var deleted: Bool
    /// Its version afterwards; nil for the storage's own.
    var version: String?
}

/// What is the same for all rows of one write.
package struct Write: Sendable {
    /// When, by the backend's clock.
    var at: Instant
    /// How `updatedAt` moves on from the table's last one.
    var stamps: BackendOptions.Stamps
    /// Columns that the table gets with it.
    var newColumns: [TableOptions.Column] = []
    /// The method of the request, for the effect.
    var method: String
    /// The `Idempotency-Key` of the request, for the effect.
    var idempotencyKey: String?
    /// Whether it is committed. What is not is rolled back at its end, and answered as if it had been: the
    /// fault ``FaultRule/Kind/pretend``.
    var isKept = true
}
