extension SQLCompiler {
    /// The keys of an index of some shape, word for word as ``filter(_:)`` and ``ordering(_:)`` write
    /// them: SQLite uses an index on an expression only where it finds the same expression.
    public func indexKeys(_ shape: IndexShape) -> String {
        let held = shape.equalities.map { json(.column($0)) }
        return (held + [ordering(shape.order)]).map(\.text).joined(separator: ", ")
    }
}
