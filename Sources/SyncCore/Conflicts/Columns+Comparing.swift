import TablesProtocol

extension Columns {
    /// The value of a column as sync compares it: an absent one is null, and a name that only
    /// differs in case is the same column when it is the only such one.
    func value(_ name: String) -> JSONText {
        if let value = self[name] { return value }
        let lowered = name.lowercased()
        let alike = all.filter { $0.name.lowercased() == lowered }
        return alike.count == 1 ? alike[0].value : .null
    }

    /// Whether every column of `sent` has the same value here.
    func holds(_ sent: Columns) -> Bool {
        sent.all.allSatisfy { value($0.name).isSame(as: $0.value) }
    }

    /// These columns, and those of `others` that have no place here.
    func filled(from others: Columns) -> Columns {
        Columns(all + others.all.filter { self[$0.name] == nil })
    }
}

extension Columns {
    /// The object as one JSON value.
    var json: JSONText { (try? JSONText(validating: text)) ?? .null }
}
