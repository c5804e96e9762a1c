import TablesProtocol

/// What a write did to an item, for taking it back.
struct WrittenChange {
    /// The operation that carried it.
    var operationID: OperationID?
    /// The columns before; nil when there was nothing to see.
    var before: Columns?
    /// The columns after; nil when there was nothing to see any more.
    var after: Columns?
}

/// Which columns undoing a change sets back. Pure.
struct UndoneColumns {
    /// How the item becomes what it was.
    enum Way {
        case delete
        case set(Columns)
        case restore(Columns)
    }
    var way: Way
    /// The columns among them that were changed since, as the undone change had left them.
    var changedSince = Columns()

    /// - Parameters:
    ///   - left: what the change left of the item.
    ///   - now: the item as it is; nil when there is nothing to see.
    init?(_ change: WrittenChange, left: Columns?, now: Columns?) {
        switch (change.before, now) {
        case (nil, nil): return nil
        case (nil, let now?):
            way = .delete
            changedSince = Self.changed(now.changedNames(from: left ?? now), from: left)
        case (let before?, nil):
            guard change.after == nil else { return nil }
            way = .restore(before)
        case (let before?, let now?):
            guard let after = change.after else { return nil }
            let names = before.changedNames(from: after)
            let set = Columns(
                names.map { Columns.Column($0, before[$0] ?? .null) }
                    .filter { !now.value($0.name).isSame(as: $0.value) })
            if set.isEmpty { return nil }
            way = .set(set)
            changedSince = Self.changed(
                set.names.filter { !now.value($0).isSame(as: (left ?? after).value($0)) },
                from: left)
        }
    }

    private static func changed(_ names: [String], from left: Columns?) -> Columns {
        Columns(names.map { Columns.Column($0, left?[$0] ?? .null) })
    }
}
