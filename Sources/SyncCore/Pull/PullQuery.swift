public import TablesProtocol

/// Which rows of a table a pull asks for: all, or those of a developer's query.
public struct PullQuery: Sendable, Hashable {
    /// The condition; nil for all rows.
    let filter: Expression?
    /// Pairs of the developer's own, sent on as they came.
    let parameters: [String]
    /// Tells queries apart, however they are spelled; empty for the whole table.
    let key: String

    /// All rows.
    public init() {
        filter = nil
        parameters = []
        key = ""
    }

    /// Reads a query string such as `$filter=complete eq false&list=7`, or the condition alone.
    ///
    /// A pull asks for whole rows, for the deleted ones too, in the order of their changes and page
    /// by page, so that it may be asked for nothing else: the SDKs refuse the same options.
    ///
    /// - Throws: ``ODataError`` for a filter that cannot be read, and for `$select`, `$orderby`,
    ///   `$top`, `$skip`, `$inlinecount`, `__includeDeleted` and other options of the protocol.
    public init(parsing text: String) throws(ODataError) {
        guard Self.isQueryString(text) else {
            try self.init(condition: text, parameters: [])
            return
        }
        var condition = ""
        var parameters: [String] = []
        for pair in try QueryParameter.split(text[...]) {
            if pair.name == "$filter" {
                condition = pair.value
            } else if pair.name.hasPrefix("$") || pair.name.hasPrefix("__") {
                throw ODataError(
                    option: pair.name,
                    reason: "A pull takes whole rows in the order of their changes; of the options "
                        + "it knows $filter alone", position: 0)
            } else {
                parameters.append(pair.raw)
            }
        }
        try self.init(condition: condition, parameters: parameters)
    }

    private init(condition: String, parameters: [String]) throws(ODataError) {
        let isBlank = condition.allSatisfy(\.isWhitespace)
        filter =
            isBlank ? nil : try Expression(parsing: condition, generation: .mobileApps)
        self.parameters = parameters
        let text = try filter?.text(dialect: .v3, names: .mobileApps) ?? ""
        key = ([text] + parameters).joined(separator: "&")
    }

    /// Whether a text begins with a pair's name rather than with a condition.
    private static func isQueryString(_ text: String) -> Bool {
        guard let equals = text.firstIndex(of: "=") else { return false }
        return text[..<equals].allSatisfy { character in
            character.isLetter || character.isNumber || "$_-.%".contains(character)
        }
    }
}
