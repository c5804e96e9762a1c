import Foundation
import Storage
public import TablesProtocol

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
            values + [limit + 1], entry)
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
            """, keep: false, entry)
    }

    private func entry(_ row: StatementRow) -> HistoryEntry? {
        HistoryEntry(row, identity: transaction.identity)
    }

    private func count() throws -> Int {
        let (sql, values) = filter.condition
        let counts: [Int] = try transaction.column(
            "SELECT count(*) FROM \(filter.source) WHERE \(sql)", values)
        return counts.first ?? 0
    }

    private static func selecting(_ source: String) -> String {
        """
        SELECT \(HistoryRow.listed.names) FROM \(source)
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

extension StoreLists {
    /// A page of history, latest first.
    /// - Parameter after: see ``isPlace(_:in:)``; nil for the beginning.
    public func history(
        _ filter: HistoryFilter = HistoryFilter(), after: String?, limit: Int
    ) async throws(StoreError) -> Page<HistoryEntry> {
        let place = after.flatMap { HistoryPlace(cursor: $0, isByTime: filter.isByTime) }
        let limit = Self.bounded(limit)
        guard filter.isSearch else {
            return try await reading.read {
                try HistoryList(transaction: $0, filter: filter).page(after: place, limit: limit)
            }
        }
        return try await reading.search {
            try HistoryList(transaction: $0, filter: filter).page(after: place, limit: limit)
        }
    }

    /// Whether a text is the `next` of a page of history with such a filter.
    public static func isPlace(_ cursor: String, in filter: HistoryFilter) -> Bool {
        HistoryPlace(cursor: cursor, isByTime: filter.isByTime) != nil
    }
}

public struct HistoryFilter: Sendable, Hashable {
    /// A text that the entry shows: in the sentence, the item's title, id or columns, the table's name, who did
    /// it, or what happened.
    public var text: String?
    /// What happened; nil for everything.
    public var kinds: Set<HistoryKind>?
    /// What writes did; these are selected beside ``kinds``.
    public var effects: Set<WriteEffect> = []
    /// Who did it; ``Actor/client`` is every client.
    public var actor: Actor?
    /// The table's name, in any case.
    public var table: String?
    /// An item's id, or one that it had before the backend assigned one.
    public var item: String?
    /// The number of the only entry.
    public var entry: Int64?
    public var period: Period

    /// Selects every entry, unless narrowed.
    public init(
        text: String? = nil, kinds: Set<HistoryKind>? = nil, actor: Actor? = nil,
        table: String? = nil, period: Period = Period()
    ) {
        self.text = text
        self.kinds = kinds
        self.actor = actor
        self.table = table
        self.period = period
    }
}

// The filter in SQL.
extension HistoryFilter {
    /// Whether entries have to be looked at one by one: no index selects them.
    var isSearch: Bool {
        isText || kinds != nil || actor != nil || table != nil || item != nil || entry != nil
    }

    private var isText: Bool { text?.isEmpty == false }

    /// Entries of a period are listed by their times, which an index has. Without one they are listed by their
    /// numbers, which the clock cannot turn round.
    var isByTime: Bool { !period.isAll }

    var source: String { isByTime ? "history INDEXED BY history_by_time" : "history" }

    var order: String { isByTime ? "history.at DESC, history.id DESC" : "history.id DESC" }

    /// The condition on `history`, and its values.
    var condition: (sql: String, values: StatementValues) {
        var parts = ["1"]
        var values: StatementValues = []
        func add(_ sql: String, _ more: StatementValues) {
            parts.append(sql)
            values += more
        }
        // A bound on both sides, or SQLite reads the index from its beginning.
        if isByTime {
            add(
                "history.at >= ? AND history.at < ?",
                [period.from?.milliseconds ?? .min, period.to?.milliseconds ?? .max])
        }
        if let kinds {
            let sentences = effects.map { "OR history.summary GLOB '\($0.beginning)*'" }.sorted()
            add(
                """
                (history.kind IN (SELECT value FROM json_each(?))
                  OR history.kind = 'write' AND (0 \(sentences.joined(separator: " "))))
                """, [JSONList.text(kinds.map(\.rawValue).sorted())])
        }
        if let entry { add("history.id = ?", [entry]) }
        if let item {
            let aliases = "SELECT alias FROM aliases WHERE id = ?"
            let present = "SELECT id FROM aliases WHERE alias = ?"
            add(
                "history.item_id IN (SELECT ? UNION ALL \(aliases) UNION ALL \(present))",
                Array(repeating: item, count: 3))
        }
        if let actor {
            let named = actor == .client ? " OR substr(history.actor, 1, 7) = 'client:'" : ""
            add("(history.actor = ?\(named))", [actor.rawValue])
        }
        if let table {
            add(
                "history.table_id = (SELECT id FROM tables WHERE name_key = ?)",
                [table.lowercased()])
        }
        if isText { addText(text ?? "", add) }
        return (parts.joined(separator: " AND "), values)
    }

    private func addText(_ text: String, _ add: (String, StatementValues) -> Void) {
        let pattern = LikePattern.containing(text)
        // All titles are looked through once for all entries. For those of a period, theirs are looked up.
        let title =
            isByTime
            ? "EXISTS (SELECT 1 FROM operations WHERE op_id = history.op_id AND title LIKE ? ESCAPE '\\')"
            : "history.op_id IN (SELECT op_id FROM operations WHERE title LIKE ? ESCAPE '\\')"
        add(
            """
            (summary LIKE ? ESCAPE '\\' OR item_id LIKE ? ESCAPE '\\'
              OR before LIKE ? ESCAPE '\\' OR after LIKE ? ESCAPE '\\'
              OR table_id IN (SELECT id FROM tables WHERE name LIKE ? ESCAPE '\\')
              OR \(title)
              OR history.kind IN (SELECT value FROM json_each(?))
              OR actor IN (SELECT value FROM json_each(?))
              OR substr(actor, 1, 7) = 'client:' AND substr(actor, 8) LIKE ? ESCAPE '\\')
            """,
            Array(repeating: pattern, count: 6) + [
                JSONList.text(HistoryWords.kinds(containing: text)),
                JSONList.text(HistoryWords.actors(containing: text)), pattern,
            ])
    }
}

/// What a write did to its item, as the sentence of its entry begins.
public enum WriteEffect: String, Sendable, Hashable, CaseIterable {
    case inserted, changed, deleted
    case broughtBack = "brought back"

    var beginning: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// The words in which the dashboard and the commands show an entry's kind and actor, for a search and a filter.
public enum HistoryWords {
    /// The word of an entry: of a write, what it did.
    public static func word(_ kind: HistoryKind, _ summary: String) -> String {
        let effect = WriteEffect.allCases.first { summary.hasPrefix($0.beginning) }
        return kind == .write ? effect?.rawValue ?? word(kind) : word(kind)
    }

    private static func word(_ kind: HistoryKind) -> String {
        switch kind {
        case .write: "written"
        case .resolved: "decided"
        case .quarantined: "refused"
        case .pulled: "received"
        case .purged: "removed from this device"
        case .sent, .conflict, .merged, .discarded, .retried, .edited, .undone, .failed:
            kind.rawValue
        }
    }

    private static let actorWords: [(Actor, String)] = [
        (.client, "a client"), (.person, "you"), (.engine, "Understudy"),
    ]

    /// The kind that a word names, as the dashboard or as the API has it; nil for none.
    public static func kind(_ text: String) -> HistoryKind? {
        HistoryKind(rawValue: text) ?? HistoryKind.allCases.first { word($0) == text.lowercased() }
    }

    /// Every word that ``kind(_:)`` understands as the dashboard has it.
    public static let kinds = HistoryKind.allCases.map(word)

    /// Every word that a list shows as what happened.
    public static let all = WriteEffect.allCases.map(\.rawValue) + kinds

    /// The actor that a word names: one of the dashboard's or the API's, or `client:` and a client's name; nil for
    /// none.
    public static func actor(_ text: String) -> Actor? {
        if let actor = actorWords.first(where: { $0.1.lowercased() == text.lowercased() })?.0 {
            return actor
        }
        let actor = Actor(rawValue: text)
        return actor?.clientName?.isEmpty == true ? nil : actor
    }

    static func kinds(containing text: String) -> [String] {
        HistoryKind.allCases.filter { contains(word($0), text) }.map(\.rawValue)
    }

    /// The actors without a name of their own whose word contains a text, as they are stored.
    static func actors(containing text: String) -> [String] {
        actorWords.filter { contains($0.1, text) }.map(\.0.rawValue)
    }

    private static func contains(_ word: String, _ text: String) -> Bool {
        word.lowercased().contains(text.lowercased())
    }
}

extension StoreLists {
    /// Whether a client with an address of its own made an entry.
    public func hasEntry(ofClient name: String) async throws(StoreError) -> Bool {
        try await reading.search {
            try $0.integer(
                "SELECT 1 FROM history WHERE actor = ? LIMIT 1",
                [Actor.namedClient(name).rawValue]) != nil
        }
    }
}

extension TimeZoneRules {
    /// The rules of a zone by its name in the time zone database, such as `Europe/Paris`; nil for an unknown one.
    public init?(named name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.init(name) { instant in
            zone.secondsFromGMT(
                for: Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000))
        }
    }

    public static var localName: String { TimeZone.current.identifier }
}
