import TablesProtocol

/// An item as the backend stores it.
struct Row: Sendable, Hashable {
    /// The id as text; decimal digits in a table with integer ids.
    var id: String
    /// The user's columns.
    var columns: Columns
    /// When it was inserted.
    var createdAt: Instant
    /// When it last changed.
    var updatedAt: Instant
    /// How often it was changed, from 1.
    var revision: Int64
    /// What the version shows, base64.
    var version: String
    /// Whether it is softly deleted.
    var deleted: Bool
}
