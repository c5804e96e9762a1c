extension Expression {
    /// The expression for a backend: `$filter` in its dialect with its names for system properties.
    ///
    /// Instants, strings and numbers are written with the text that they came with.
    ///
    /// - Throws: ``ODataError`` with a sentence for what the backend cannot be asked: `replace` in
    ///   v4, `createdAt` in generation 3.
    public func text(dialect: Dialect, names: Generation) throws(ODataError) -> String {
        try Printer(dialect: dialect, names: names, option: "$filter").text(self)
    }
}
