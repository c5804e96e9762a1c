import Storage
public import TablesProtocol

/// Selects entries of history.
public struct HistoryFilter: Sendable, Hashable {
    /// A text that the entry shows: in the sentence, the item's title, id or columns, the table's name, who did
    /// it, or what happened.
    public var text: String?
    /// What happened; nil for everything.
    public var kinds: Set<HistoryKind>?
    /// Who did it, here or in a store whose history was imported; ``Actor/client`` is every client.
    public var actor: Actor?
    /// The table's name, in any case.
    public var table: String?
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
    var isSearch: Bool { isText || kinds != nil || actor != nil || table != nil }

    private var isText: Bool { text?.isEmpty == false }

    /// Entries of a period are listed by their times: those that were imported are between the others. Without
    /// one they are listed by their numbers, which the clock cannot turn round.
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
            add(
                "history.kind IN (SELECT value FROM json_each(?))",
                [JSONList.text(kinds.map(\.rawValue).sorted())])
        }
        if let actor { add(Self.condition(on: actor), Self.values(of: actor)) }
        if let table {
            add(
                "history.table_id = (SELECT id FROM tables WHERE name_key = ?)",
                [table.lowercased()])
        }
        if isText { addText(text ?? "", add) }
        return (parts.joined(separator: " AND "), values)
    }

    private static func condition(on actor: Actor) -> String {
        let one = "history.actor IN (?, ?)"
        return actor == .client
            ? """
            (\(one) OR substr(history.actor, 1, 7) = 'client:'
              OR substr(history.actor, 1, 17) = 'elsewhere:client:')
            """ : one
    }

    private static func values(of actor: Actor) -> StatementValues {
        [actor.rawValue, Actor.elsewhere(actor).rawValue]
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
              OR instr(actor, 'client:') > 0
                AND substr(actor, instr(actor, 'client:') + 7) LIKE ? ESCAPE '\\')
            """,
            Array(repeating: pattern, count: 6) + [
                JSONList.text(HistoryWords.kinds(containing: text)),
                JSONList.text(HistoryWords.actors(containing: text)), pattern,
            ])
    }
}

/// The words in which the dashboard shows an entry's kind and actor, for a search and a filter.
public enum HistoryWords {
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

    /// The actor that a word names: one of the dashboard's or the API's, or `client:` and a client's name; nil for
    /// none.
    public static func actor(_ text: String) -> Actor? {
        if let actor = actorWords.first(where: { $0.1.lowercased() == text.lowercased() })?.0 {
            return actor
        }
        let actor = Actor(rawValue: text)
        return actor?.isElsewhere == true || actor?.clientName?.isEmpty == true ? nil : actor
    }

    static func kinds(containing text: String) -> [String] {
        HistoryKind.allCases.filter { contains(word($0), text) }.map(\.rawValue)
    }

    /// The actors without a name of their own whose word contains a text, as they are stored.
    static func actors(containing text: String) -> [String] {
        actorWords.filter { contains($0.1, text) }.flatMap { actor, _ in
            [actor.rawValue, Actor.elsewhere(actor).rawValue]
        }
    }

    private static func contains(_ word: String, _ text: String) -> Bool {
        word.lowercased().contains(text.lowercased())
    }
}
