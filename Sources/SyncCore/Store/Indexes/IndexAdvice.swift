import TablesProtocol

/// Which index to make or to drop next, decided from what was counted. Pure.
///
/// 1. Where the file may hardly grow any more, the index that served longest ago is dropped.
/// 2. An index that nobody used for ``StoreLimits/indexIdleDays`` is dropped.
/// 3. Nothing is made before the store was quiet for ``StoreLimits/indexQuietSeconds``, and nothing
///    on a file that has no room for it.
/// 4. A shape is wanted when enough costly lists asked for it and they cost more than the table's
///    commits would cost with one more index: a table that is written much and hardly read gets none.
/// 5. Of the wanted shapes the costliest comes first. Tables with more than
///    ``StoreLimits/indexRows`` are left to a person, since making an index holds up the writers.
/// 6. A table has ``StoreLimits/indexesPerTable`` at most; one that nobody used for
///    ``StoreLimits/indexSpareDays`` makes room.
enum IndexAdvice: Hashable {
    case nothing
    case make(Int64)
    case drop(Int64)

    /// A shape of a table: what was counted of it.
    struct Shape: Sendable, Hashable {
        let id: Int64
        let table: Int64
        /// Costly lists that it would have served, and their steps.
        var queries = 0
        var steps = 0
        /// When it was last asked for or used.
        var seenAt: Instant
        var isBuilt = false
    }

    /// A table: what was counted of it.
    struct Table: Sendable, Hashable {
        var rows = 0
        var commits = 0
    }

    /// How far the file may still grow.
    enum Room: Sendable, Hashable { case enough, noneForIndexes, hardlyAny }

    /// Whether a list did much more work than to give its rows.
    static func isCostly(steps: Int, rows: Int) -> Bool {
        steps > StoreLimits.costlyListSteps && steps > rows * StoreLimits.costlyRowSteps
    }

    /// Whether a shape's lists cost more than the index would.
    static func isWanted(_ shape: Shape, _ table: Table) -> Bool {
        !shape.isBuilt && shape.queries >= StoreLimits.indexQueries
            && shape.steps > table.commits * StoreLimits.indexStepsPerCommit
    }

    /// The next thing to do.
    /// - Parameter quiet: milliseconds since an item was last changed; nil for not since the start.
    static func next(
        _ shapes: [Shape], tables: [Int64: Table], room: Room, quiet: Int64?, now: Instant
    ) -> IndexAdvice {
        let built = shapes.filter(\.isBuilt)
        let stalest = built.min { ($0.seenAt, $0.id) < ($1.seenAt, $1.id) }
        if let stalest {
            if room == .hardlyAny { return .drop(stalest.id) }
            if isIdle(stalest, days: StoreLimits.indexIdleDays, now) { return .drop(stalest.id) }
        }
        if room != .enough { return .nothing }
        if let quiet, quiet < StoreLimits.indexQuietSeconds * 1000 { return .nothing }
        let wanted = shapes.filter { shape in
            let table = tables[shape.table] ?? Table()
            return table.rows <= StoreLimits.indexRows && isWanted(shape, table)
        }
        for shape in wanted.sorted(by: { ($0.steps, $1.id) > ($1.steps, $0.id) }) {
            let present = built.filter { $0.table == shape.table }
            if present.count < StoreLimits.indexesPerTable { return .make(shape.id) }
            let spare = present.filter { isIdle($0, days: StoreLimits.indexSpareDays, now) }
            if let spare = spare.min(by: { $0.seenAt < $1.seenAt }) { return .drop(spare.id) }
        }
        return .nothing
    }

    private static func isIdle(_ shape: Shape, days: Int, _ now: Instant) -> Bool {
        now.milliseconds - shape.seenAt.milliseconds > Int64(days) * 86_400_000
    }
}
