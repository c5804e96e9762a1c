extension TableQuery {
    /// The query string that asks a backend of a generation for the same, without `?`.
    ///
    /// `$select` is written with the backend's names; a system property that the backend does not
    /// have is left out of it. `__includeDeleted` is written in the one spelling that all servers
    /// know, and only if it is true.
    ///
    /// - Throws: ``ODataError`` with a sentence for what the backend cannot be asked.
    public func text(for generation: Generation) throws(ODataError) -> String {
        let dialect = Dialect(generation)
        var pairs: [(String, String)] = []
        if let filter {
            pairs.append(("$filter", try filter.text(dialect: dialect, names: generation)))
        }
        if !orderBy.isEmpty {
            let printer = Printer(dialect: dialect, names: generation, option: "$orderby")
            var terms: [String] = []
            for term in orderBy {
                terms.append(try printer.text(term.expression) + (term.descending ? " desc" : ""))
            }
            pairs.append(("$orderby", terms.joined(separator: ",")))
        }
        if skip > 0 { pairs.append(("$skip", String(skip))) }
        if let top { pairs.append(("$top", String(top))) }
        if let select {
            let names = select.compactMap { $0.name(in: generation) }
            pairs.append(("$select", names.joined(separator: ",")))
        }
        if count {
            pairs.append(dialect == .v3 ? ("$inlinecount", "allpages") : ("$count", "true"))
        }
        if includeDeleted { pairs.append(("__includeDeleted", "true")) }
        return pairs.map { "\($0)=\(QueryParameter.encoded($1))" }.joined(separator: "&")
    }
}
