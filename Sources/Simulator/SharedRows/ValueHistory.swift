import TablesProtocol

/// What happened to every value at the simulated backend: who wrote it, what of it each side was shown,
/// and what each side meant to write. Kept outside the product.
///
/// The rule: **a value that another writer put there may be replaced only by a write whose writer was
/// shown it before**, or decided with it in sight, or under a policy that lets the local change win; and
/// then only by a value that was written on purpose.
struct ValueHistory {
    /// The columns of a row as JSON text, without those that are null; `deleted` is one of them. A row
    /// that is not there is deleted.
    typealias Row = [String: String]
    static let absent: Row = [deleted: "true"]
    static let deleted = "deleted"
    static let null = "null"

    private struct Place: Hashable {
        var id: String
        var column: String
    }
    private struct Seen: Hashable {
        var side: Int
        var place: Place
        var value: String
    }
    /// Whose the present value is; -1 for the others, nil for what a deletion has ended.
    private var writers: [Place: Int] = [:]
    /// Every value that was ever there.
    private var ever: [Place: Set<String>] = [:]
    /// When each side itself has last put a value there.
    private var put: [Seen: Int] = [:]
    private var shown: [Seen: Int] = [:]
    private var meant: [Seen: Int] = [:]
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

    /// A side was shown a row.
    mutating func show(_ row: Row, of id: String, to side: Int, columns: [String]) {
        clock += 1
        for name in columns + [Self.deleted] {
            let seen = Seen(
                side: side, place: Place(id: id, column: name), value: row[name] ?? Self.null)
            shown[seen] = shown[seen] ?? clock
        }
    }

    /// A side means these columns to be so, after what it was shown.
    mutating func mean(_ row: Row, of id: String, by side: Int) {
        clock += 1
        for (name, value) in row {
            meant[Seen(side: side, place: Place(id: id, column: name), value: value)] = clock
        }
    }

    /// Whether a value was ever at the backend.
    func wasThere(_ value: String, _ column: String, of id: String) -> Bool {
        ever[Place(id: id, column: column)]?.contains(value) ?? false
    }

    /// Books that a side turned a row into another.
    /// - Parameters:
    ///   - policyWins: the table's policy lets a local change win.
    ///   - policyRepeats: and sends it again where nothing is known of it.
    /// - Returns: what breaks the rule, in sentences.
    mutating func change(
        _ id: String, from old: Row, to new: Row, by side: Int, policyWins: Bool,
        policyRepeats: Bool
    ) -> [String] {
        clock += 1
        var faults: [String] = []
        let names = Set(old.keys).union(new.keys).sorted()
        let wasDeleted = old[Self.deleted] == "true"
        let isDeletion = new[Self.deleted] == "true"
        for name in names where name == Self.deleted || !isDeletion {
            let (before, after) = (old[name] ?? Self.null, new[name] ?? Self.null)
            let place = Place(id: id, column: name)
            if before != after {
                let owner = wasDeleted && name != Self.deleted ? nil : writers[place]
                if side >= 0, let owner, owner != side {
                    let value = Seen(side: side, place: place, value: after)
                    let theirs = Seen(side: side, place: place, value: before)
                    var isMeant = meant[value]
                    if isMeant != nil {
                        // Who means to delete the row with that in sight means what goes before, too.
                        let end = Seen(
                            side: side, place: Place(id: id, column: Self.deleted), value: "true")
                        isMeant = [isMeant, meant[end]].compactMap { $0 }.max()
                    } else if policyRepeats {
                        // It inserted the whole row before.
                        isMeant = put[value]
                    }
                    if let isMeant, policyWins || shown[theirs].map({ $0 <= isMeant }) ?? false {
                        // Seen and meant.
                        if !policyRepeats, put[value].map({ $0 > isMeant }) ?? false,
                            name != Self.deleted,
                            after != Self.null, shown[theirs].map({ $0 > isMeant }) ?? true
                        {
                            faults.append(
                                "\(id).\(name) = \(after) took effect twice over \(before)")
                        }
                    } else {
                        faults.append(
                            "\(id).\(name): \(before) of \(owner) became \(after) unseen"
                                + (isMeant == nil ? ", and nobody meant it" : ""))
                    }
                }
                writers[place] = side
                put[Seen(side: side, place: place, value: after)] = clock
            } else if wasDeleted {
                // It is back with its old columns, which are now whose who brought it back.
                writers[place] = side
            }
            ever[place, default: []].insert(after)
        }
        defer {
            // A deletion ends what was there: who brings the row back need not have seen it.
            if isDeletion {
                for name in names where name != Self.deleted {
                    writers[Place(id: id, column: name)] = nil
                }
                // A row that was deleted for good looks like one that never arrived.
                if new == Self.absent { writers[Place(id: id, column: Self.deleted)] = nil }
            }
        }
        if new[Self.deleted] == "true", side >= 0, !wasDeleted, !policyWins {
            // A deletion takes all columns with it.
            let meaning = meant[
                Seen(side: side, place: Place(id: id, column: Self.deleted), value: "true")]
            for name in names where name != Self.deleted {
                let place = Place(id: id, column: name)
                guard let owner = writers[place], owner != side else { continue }
                let theirs = Seen(side: side, place: place, value: old[name] ?? Self.null)
                if !(shown[theirs].flatMap { at in meaning.map { at <= $0 } } ?? false) {
                    faults.append("\(id) was deleted with \(name) = \(old[name] ?? "") unseen")
                }
            }
        }
        return faults
    }
}
