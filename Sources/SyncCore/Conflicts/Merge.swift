import TablesProtocol

/// The three-way merge of a change with what happened to its row meanwhile, column by column.
enum Merge: Hashable {
    /// Nobody else changed what I changed. These of my columns are left to send over theirs; none
    /// when the backend has them all already.
    case disjoint(Columns)
    /// Both sides changed these columns, to different values.
    case overlapping([String])

    /// Merges.
    /// - Parameters:
    ///   - base: the row that my change started from; nil when it is not known, so that every
    ///     difference counts as theirs.
    ///   - changes: the columns that I changed, with my values.
    ///   - theirs: the backend's row now.
    static func threeWay(base: Columns?, changes: Columns, theirs: Columns) -> Merge {
        var rest: [Columns.Column] = []
        var overlaps: [String] = []
        // 1. What both sides want alike needs no sending. 2. What they left as it was is mine.
        // 3. What they changed to something else is for somebody to decide.
        for column in changes.all {
            let their = theirs.value(column.name)
            if their.isSame(as: column.value) { continue }
            rest.append(column)
            if let base, base.value(column.name).isSame(as: their) { continue }
            overlaps.append(column.name)
        }
        return overlaps.isEmpty ? .disjoint(Columns(rest)) : .overlapping(overlaps)
    }
}

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
}
