import TablesProtocol

/// The three rows of a conflict, column by column.
struct ThreeWayMerge: Sendable {
    /// The columns in which the rows differ.
    let fields: [ConflictDetail.Field]
    /// Mine laid over the backend's row where only I changed a column.
    let proposed: Columns

    /// Compares by JSON value; an absent column and null are the same.
    init(base: Columns?, mine: Columns, server: Columns) {
        let base = base ?? Columns()
        let byMe = Set(mine.changedNames(from: base))
        let byThem = Set(server.changedNames(from: base))
        let differing = Set(mine.changedNames(from: server))
        var fields: [ConflictDetail.Field] = []
        var proposed = server
        for name in Self.names(mine, server, base)
        where byMe.contains(name) || byThem.contains(name) || differing.contains(name) {
            let overlaps =
                byMe.contains(name) && byThem.contains(name) && differing.contains(name)
            fields.append(
                ConflictDetail.Field(
                    name: name, base: base[name], mine: mine[name], server: server[name],
                    overlaps: overlaps))
            if byMe.contains(name), !overlaps { proposed[name] = mine[name] ?? .null }
        }
        self.fields = fields
        self.proposed = proposed
    }

    private static func names(_ rows: Columns...) -> [String] {
        var seen: Set<String> = []
        return rows.flatMap(\.names).filter { seen.insert($0).inserted }
    }
}
