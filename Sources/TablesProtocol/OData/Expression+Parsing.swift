extension Expression {
    /// Reads the value of `$filter`: the union of OData v3 and v4 that clients of all generations
    /// write.
    ///
    /// - Parameters:
    ///   - text: the option's decoded value.
    ///   - generation: decides which names are system properties, and the form of `binary'…'`.
    ///   - option: how errors name the option.
    public init(
        parsing text: String, generation: Generation, option: String = "$filter"
    ) throws(ODataError) {
        var parser = try Parser(text, option: option, generation: generation)
        let node = try parser.expression()
        guard parser.current.kind == .end else {
            throw parser.error(
                "Unexpected \(parser.current.name)", at: parser.current.position)
        }
        self = node.expression
    }
}
