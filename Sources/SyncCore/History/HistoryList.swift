import Storage
import TablesProtocol

/// The place of an entry in a list: its number, and its time where entries are listed by their times.
struct HistoryPlace: Hashable {
    /// Milliseconds since 1970; nil in a list by numbers.
    let at: Int64?
    let id: Int64

    /// The text that names the place.
    var cursor: String {
        let end = at.map { ".\(String($0, radix: Cursor.radix))" } ?? ""
        return Cursor.text(id) + end
    }

    /// Reads what ``cursor`` has made for a list in such an order; nil for any other text.
    init?(cursor: String, isByTime: Bool) {
        let parts = cursor.split(separator: ".", maxSplits: 1)
        guard parts.count == (isByTime ? 2 : 1), let id = Cursor.number(String(parts[0])) else {
            return nil
        }
        let at = isByTime ? Int64(parts[1], radix: Cursor.radix) : nil
        self.init(at: at, id: id)
        guard self.cursor == cursor else { return nil }
    }

    init(at: Int64?, id: Int64) {
        self.at = at
        self.id = id
    }

    /// Whether it comes after another place of the same list, latest first.
    func isAfter(_ other: HistoryPlace) -> Bool {
        if let at, let earlier = other.at, at != earlier { return at < earlier }
        return id < other.id
    }
}

/// The lists of history, latest first.
struct HistoryList: InTransaction {
    let transaction: Transaction
    let filter: HistoryFilter

    func page(after place: HistoryPlace?, limit: Int) throws -> Page<HistoryEntry> {
        if filter.isSearch {
            // One scan gives both the page and the count.
            let all = try places()
            let rest = place.map { place in all[...].drop { !$0.isAfter(place) } } ?? all[...]
            let found = try entries(rest.prefix(limit + 1).map(\.id))
            return page(found, limit: limit, total: all.count)
        }
        var rest = filter
        // The index is read from there on.
        if let at = place?.at { rest.period.to = Instant(milliseconds: at + 1) }
        var (sql, values) = rest.condition
        if let place {
            sql +=
                place.at == nil ? " AND history.id < ?" : " AND (history.at < ? OR history.id < ?)"
            values += (place.at.map { [$0] } ?? []) + [place.id]
        }
        let found = try transaction.all(
            "\(Self.selecting(filter.source)) WHERE \(sql) ORDER BY \(filter.order) LIMIT ?",
            values + [limit + 1],
            HistoryEntry.init)
        return page(found, limit: limit, total: try count())
    }

    func places() throws -> [HistoryPlace] {
        let (sql, values) = filter.condition
        let isByTime = filter.isByTime
        return try transaction.all(
            "SELECT id, at FROM \(filter.source) WHERE \(sql) ORDER BY \(filter.order)", values,
            keep: false
        ) { HistoryPlace(at: isByTime ? $0[1] : nil, id: $0[0]) }
    }

    /// The entries with these numbers that are still there.
    func entries(_ ids: [Int64]) throws -> [HistoryEntry] {
        let list = ids.map(String.init).joined(separator: ",")
        return try transaction.all(
            """
            \(Self.selecting("history")) WHERE history.id IN (\(list)) ORDER BY \(filter.order)
            """, keep: false, HistoryEntry.init)
    }

    private func count() throws -> Int {
        let (sql, values) = filter.condition
        let counts: [Int] = try transaction.column(
            "SELECT count(*) FROM \(filter.source) WHERE \(sql)", values)
        return counts.first ?? 0
    }

    private static func selecting(_ source: String) -> String {
        """
        SELECT \(HistoryEntry.columns) FROM \(source)
        LEFT JOIN tables ON tables.id = history.table_id
        LEFT JOIN operations ON operations.op_id = history.op_id
        """
    }

    /// One more than `limit` means that there is a next page.
    private func page(
        _ found: [HistoryEntry], limit: Int, total: Int
    ) -> Page<HistoryEntry> {
        let items = Array(found.prefix(limit))
        let last = items.last.map { entry in
            HistoryPlace(at: filter.isByTime ? entry.at.milliseconds : nil, id: entry.id)
        }
        return Page(
            items: items, next: found.count > limit ? last?.cursor : nil, total: total)
    }
}

extension Store {
    /// A page of history, latest first.
    /// - Parameter after: see ``isPlace(_:in:)``; nil for the beginning.
    public func history(
        _ filter: HistoryFilter = HistoryFilter(), after: String?, limit: Int
    ) async throws(StoreError) -> Page<HistoryEntry> {
        let place = after.flatMap { HistoryPlace(cursor: $0, isByTime: filter.isByTime) }
        let limit = Self.bounded(limit)
        guard filter.isSearch else {
            return try await read {
                try HistoryList(transaction: $0, filter: filter).page(after: place, limit: limit)
            }
        }
        return try await search {
            try HistoryList(transaction: $0, filter: filter).page(after: place, limit: limit)
        }
    }

    /// Whether a text is the `next` of a page of history with such a filter.
    public static func isPlace(_ cursor: String, in filter: HistoryFilter) -> Bool {
        HistoryPlace(cursor: cursor, isByTime: filter.isByTime) != nil
    }
}
