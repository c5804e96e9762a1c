import TablesProtocol

/// The history of every value at the simulated backend: which side wrote it, which values each side was
/// shown, and which values each side intended to write. Independent of the product.
///
/// The rule: **a value of another writer may be replaced only by a side that was shown it before the write
/// or the decision**, or under a policy that lets the local change win; and only by a value that this side
/// intended to write.
struct ValueHistory {
    /// The columns of a row as JSON text, without nulls, and its `deleted` flag. A missing row counts as
    /// deleted.
    typealias Row = [String: String]
    static let absent: Row = [deleted: "true"]
    static let deleted = "deleted"
    static let null = "null"

    private struct Cell: Hashable {
        var id: String
        var column: String
    }
    private struct SideValue: Hashable {
        var side: Int
        var cell: Cell
        var value: String
    }
    /// The side that wrote the present value: -1 for other writers, nil after a deletion.
    private var writers: [Cell: Int] = [:]
    /// Every value that was ever at the backend.
    private var ever: [Cell: Set<String>] = [:]
    /// The time at which each side last wrote a value.
    private var written: [SideValue: Int] = [:]
    private var shown: [SideValue: Int] = [:]
    private var intended: [SideValue: Int] = [:]
    private var clock = 0

    /// A row of the backend, or of a store.
    static func row(_ item: Item?) -> Row {
        guard let item else { return absent }
        var row = columns(item.columns)
        row[deleted] = item.deleted ? "true" : "false"
        return row
    }

    static func columns(_ columns: Columns) -> Row {
        var row: Row = [:]
        for column in columns.all where !column.value.isNull {
            row[column.name] = column.value.text
        }
        return row
    }

    /// Records that a side was shown a row.
    mutating func recordShown(
        _ row: Row, of id: String, to side: Int, columns: [String]
    ) {
        clock += 1
        for name in columns + [Self.deleted] {
            let value = SideValue(
                side: side, cell: Cell(id: id, column: name), value: row[name] ?? Self.null)
            shown[value] = shown[value] ?? clock
        }
    }

    /// Records that a side intends these values, after what it was shown.
    mutating func recordIntent(_ row: Row, of id: String, by side: Int) {
        clock += 1
        for (name, value) in row {
            intended[SideValue(side: side, cell: Cell(id: id, column: name), value: value)] = clock
        }
    }

    /// Whether a value was ever at the backend.
    func existed(_ value: String, _ column: String, of id: String) -> Bool {
        ever[Cell(id: id, column: column)]?.contains(value) ?? false
    }

    /// Whether a column of a row ever had two values, so that a writer may have brought one back.
    func hasChanged(_ column: String, of id: String) -> Bool {
        ever[Cell(id: id, column: column), default: []].count > 1
    }

    /// Records that a side changed a row at the backend.
    /// - Parameters:
    ///   - policyWins: whether the table's policy lets a local change win.
    ///   - policyRepeats: whether the policy also resends a change whose outcome is unknown.
    ///   - scripted: the columns that the backend sets itself.
    /// - Returns: the violations of the rule, one sentence each.
    mutating func recordChange(
        _ id: String, from old: Row, to new: Row, by side: Int, policyWins: Bool,
        policyRepeats: Bool, scripted: Set<String> = []
    ) -> [String] {
        clock += 1
        var faults: [String] = []
        let names = Set(old.keys).union(new.keys).subtracting(scripted).sorted()
        let wasDeleted = old[Self.deleted] == "true"
        let isDeletion = new[Self.deleted] == "true"
        for name in names where name == Self.deleted || !isDeletion {
            let (before, after) = (old[name] ?? Self.null, new[name] ?? Self.null)
            let cell = Cell(id: id, column: name)
            if before != after {
                let owner = wasDeleted && name != Self.deleted ? nil : writers[cell]
                if side >= 0, let owner, owner != side {
                    let value = SideValue(side: side, cell: cell, value: after)
                    let theirs = SideValue(side: side, cell: cell, value: before)
                    var intent = intended[value]
                    if intent != nil {
                        // An intended deletion also covers the operations before it.
                        let deletion = SideValue(
                            side: side, cell: Cell(id: id, column: Self.deleted), value: "true")
                        intent = [intent, intended[deletion]].compactMap { $0 }.max()
                    } else if policyRepeats {
                        // The side inserted the whole row before.
                        intent = written[value]
                    }
                    if let intent, policyWins || shown[theirs].map({ $0 <= intent }) ?? false {
                        // Shown and intended: allowed, unless it was written before.
                        if !policyRepeats, written[value].map({ $0 > intent }) ?? false,
                            name != Self.deleted,
                            after != Self.null, shown[theirs].map({ $0 > intent }) ?? true
                        {
                            faults.append(
                                "\(id).\(name) = \(after) took effect twice over \(before)")
                        }
                    } else {
                        faults.append(
                            "\(id).\(name): \(before) of \(owner) became \(after) unseen"
                                + (intent == nil ? ", and nobody meant it" : ""))
                    }
                }
                writers[cell] = side
                written[SideValue(side: side, cell: cell, value: after)] = clock
            } else if wasDeleted {
                // The row was undeleted with its old columns, so they count as written by this side.
                writers[cell] = side
            }
            ever[cell, default: []].insert(after)
        }
        defer {
            // A deletion removes the values, so a side that undeletes the row need not have seen them.
            if isDeletion {
                for name in names where name != Self.deleted {
                    writers[Cell(id: id, column: name)] = nil
                }
                // A row that was deleted hard looks like one that was never inserted.
                if new == Self.absent { writers[Cell(id: id, column: Self.deleted)] = nil }
            }
        }
        if new[Self.deleted] == "true", side >= 0, !wasDeleted, !policyWins {
            // A deletion removes all columns, so the side must have been shown each of them.
            let intent = intended[
                SideValue(side: side, cell: Cell(id: id, column: Self.deleted), value: "true")]
            for name in names where name != Self.deleted {
                let cell = Cell(id: id, column: name)
                guard let owner = writers[cell], owner != side else { continue }
                let theirs = SideValue(side: side, cell: cell, value: old[name] ?? Self.null)
                if !(shown[theirs].flatMap { at in intent.map { at <= $0 } } ?? false) {
                    faults.append("\(id) was deleted with \(name) = \(old[name] ?? "") unseen")
                }
            }
        }
        return faults
    }
}
