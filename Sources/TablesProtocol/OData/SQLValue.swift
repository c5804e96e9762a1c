/// A value that SQLite stores: bound into a ``SQLFragment`` or passed through a ``SQLFunction``.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}
