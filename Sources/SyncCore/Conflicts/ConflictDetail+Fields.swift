import TablesProtocol

extension ConflictDetail.Field {
    /// The columns in which three rows differ, in the order of mine, the server's, the base.
    static func all(base: Columns, mine: Columns, server: Columns) -> [ConflictDetail.Field] {
        let overlaps = Set(ThreeWayMerge(base: base, mine: mine, theirs: server).overlaps)
        let differing = Set(
            mine.changedNames(from: base) + server.changedNames(from: base)
                + mine.changedNames(from: server))
        var seen: Set<String> = []
        return [mine, server, base].flatMap(\.names)
            .filter { differing.contains($0) && seen.insert($0).inserted }
            .map { name in
                ConflictDetail.Field(
                    name: name, base: base[name], mine: mine[name], server: server[name],
                    overlaps: overlaps.contains(name))
            }
    }
}
