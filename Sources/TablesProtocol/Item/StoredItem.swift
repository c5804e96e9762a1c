/// An item where it is stored, written into an answer without a value being made of it first.
package protocol StoredItem {
    /// When it was made; nil where the server does not say.
    var createdAt: Instant? { get }
    /// When it last changed.
    var updatedAt: Instant { get }
    /// True when only a tombstone is left.
    var deleted: Bool { get }

    /// Whether the id is a whole number. In a table of integer ids, what is left under an id that an item
    /// had before is not.
    var hasNumberAsID: Bool { get }

    /// Appends the text of the id.
    func appendID(to bytes: inout [UInt8])
    /// Appends the object of the user's columns, as ``Columns/text`` gave it.
    func appendColumns(to bytes: inout [UInt8])
    /// Appends the version, without quotes.
    func appendVersion(to bytes: inout [UInt8])
}
