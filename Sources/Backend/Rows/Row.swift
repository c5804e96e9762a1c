public import TablesProtocol

/// A row as it is stored: the text of its JSON and what the server keeps beside it.
package struct Row: Sendable, Hashable {
    /// The id as text; decimal digits in a table with integer ids.
    package var id: String
    /// The user's columns.
    package var columns: Columns
    /// The time of its insert.
    package var createdAt: Instant
    /// The time of its last change.
    package var updatedAt: Instant
    /// The version that clients compare, in base64.
    package var version: String
    /// Whether it is softly deleted.
    package var deleted: Bool

    package init(
        id: String, columns: Columns, createdAt: Instant, updatedAt: Instant, version: String,
        deleted: Bool
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
    }
}

/// A row that is to be inserted.
package struct NewRow: Sendable {
    /// Its id; nil for the next number of a table with integer ids.
    package var id: String?
    /// Whether the next number is the one after the highest row's, and not after the last one given.
    package var reusesNumbers = false
    /// The user's columns.
    package var columns: Columns
    /// Whether it is inserted as a deleted row.
    package var deleted = false
    /// Its version; nil for the storage's own.
    package var version: String?
}

/// The result of an insert.
package enum Insertion: Sendable, Hashable {
    case inserted(Row)
    /// A row with this id is there, deleted or not. Nothing was written.
    case exists(Row)
    /// A new column is there by now with another type or in another spelling. Nothing was written.
    case overtaken
}

/// A change of a row.
package struct RowChange: Sendable {
    /// The row as it was read. It is changed only when it still is so.
    package var old: Row
    /// The user's columns afterwards.
    package var columns: Columns
    /// Whether it is softly deleted afterwards.
    package var deleted: Bool
    /// Its version afterwards; nil for the storage's own.
    package var version: String?
}

/// The values that all rows of one write share.
package struct Write: Sendable {
    /// The time of the write, by the backend's clock.
    package var at: Instant
    /// The rule for the next `updatedAt` after the table's last one.
    package var stamps: BackendOptions.Stamps
    /// Columns that the table gets with it.
    package var newColumns: [TableOptions.Column] = []
    /// The method of the request, for the effect.
    package var method: String
    /// The `Idempotency-Key` of the request, for the effect.
    package var idempotencyKey: String?
    /// The user whose rows alone it changes; nil where a table's rows are for all who may read it.
    package var owner: String?
    /// Whether it is committed. False rolls it back at its end and answers as if it had been committed,
    /// for the fault ``FaultKind/pretend``.
    package var isKept = true
}

/// The kind of the write.
public enum EffectKind: String, Sendable, Hashable, CaseIterable {
    case insert, update, replace, delete, undelete
}

/// One write that took effect. The log of effects shows whether a commit whose answer was lost took
/// effect, and tests count by it.
public struct Effect: Sendable, Hashable {
    /// Its place in the order of effects, from 1.
    public var number: Int64
    /// The table's name as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// The kind of the write.
    public var kind: EffectKind
    /// The method of the request.
    public var method: String
    /// The `Idempotency-Key` that came with the request. It is only recorded: like the real servers,
    /// the backend never recognises a repeated request by it.
    public var idempotencyKey: String?
    /// The time of the write, by the backend's clock.
    public var at: Instant

    package init(
        number: Int64, table: String, itemID: String, kind: EffectKind, method: String,
        idempotencyKey: String?, at: Instant
    ) {
        self.number = number
        self.table = table
        self.itemID = itemID
        self.kind = kind
        self.method = method
        self.idempotencyKey = idempotencyKey
        self.at = at
    }
}
