import TablesProtocol

/// A short text that identifies an item to a person.
enum ItemTitle {
    private static let preferred = ["text", "title", "name", "subject", "description", "label"]

    /// The text of the column that most likely names the item, at most ``StoreLimits/titleCharacters``
    /// characters; nil if no column is text.
    static func of(_ columns: Columns) -> String? {
        let texts = columns.all.compactMap { column in
            column.value.string.map { (column.name.lowercased(), $0) }
        }
        let named = preferred.lazy.compactMap { name in
            texts.first { $0.0 == name && !$0.1.isEmpty }
        }.first
        guard let text = (named ?? texts.first { !$0.1.isEmpty })?.1 else { return nil }
        return String(text.prefix(StoreLimits.titleCharacters))
    }
}
