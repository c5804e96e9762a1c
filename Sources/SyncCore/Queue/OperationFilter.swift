import HTTPTypes
import Storage
public import TablesProtocol

public struct OperationFilter: Sendable, Hashable {
    /// The states; nil for every open state.
    public var states: Set<OperationState>?
    /// The table's name, in any case.
    public var table: String?
    /// A part of the item's id, title, payload or reason.
    public var text: String?
    /// The whole reason, or what the reasons of a group have in common (``OperationGroup/reason``).
    public var reason: String?
    /// What came of the last request.
    public var status: LastStatus?
    /// The least number of requests that were made.
    public var attempts: Int?
    /// Accepted before this time.
    public var before: Instant?
    /// Who made the change: `client`, `person`, or the name of a client with an address of its own.
    public var actor: String?
    /// A column that the change writes, in any case.
    public var column: String?
    /// The ids of items of the table; nil for every item. Selects their open operations.
    public var items: [String]?

    /// What came of the last request for an operation.
    public enum LastStatus: Sendable, Hashable {
        /// No answer; also where no request was made.
        case noAnswer
        case code(Int)
    }

    /// Selects every open operation, unless narrowed.
    public init(
        states: Set<OperationState>? = nil, table: String? = nil, text: String? = nil,
        reason: String? = nil, status: LastStatus? = nil, attempts: Int? = nil,
        before: Instant? = nil, actor: String? = nil, column: String? = nil,
        items: [String]? = nil
    ) {
        self.states = states
        self.table = table
        self.text = text
        self.reason = reason
        self.status = status
        self.attempts = attempts
        self.before = before
        self.actor = actor
        self.column = column
        self.items = items
    }
}

public enum OperationOrder: String, Sendable, Hashable, CaseIterable {
    /// The order in which they are sent, which is the oldest first.
    case queue
    case newest
    /// Those with the most requests first.
    case attempts
    case table

    /// The order in SQL. Equal ones are in the order of the queue.
    var sql: String {
        switch self {
        case .queue: "seq"
        case .newest: "seq DESC"
        case .attempts: "attempts DESC, seq"
        case .table: "(SELECT name_key FROM tables WHERE id = table_id), seq"
        }
    }
}

extension OperationFilter {
    /// Whether the counters for each table and state give the number of matches.
    var isCounted: Bool {
        !isSearch && reason == nil && status == nil && attempts == nil && before == nil
            && actor == nil && column == nil && items == nil
    }

    /// Whether a text is searched for in every operation of these states.
    var isSearch: Bool { text?.isEmpty == false }

    /// What to read from. Several states are read in the order of the table: with the index, a long queue
    /// would be fetched row by row and sorted.
    var source: String { states?.count == 1 ? "operations" : "operations NOT INDEXED" }

    /// The condition on `operations`, and its values.
    var condition: (sql: String, values: StatementValues) { makeCondition(rowByRow: false) }

    /// The condition on `operations`, and its values.
    /// - Parameter rowByRow: true for a statement that ends after some matches: it asks for the cause of each
    ///   row that it reads, and not first for the causes of all reasons.
    func makeCondition(rowByRow: Bool) -> (sql: String, values: StatementValues) {
        let states = (states ?? OperationState.open).map { "'\($0.rawValue)'" }.sorted()
            .joined(separator: ",")
        var parts = ["state IN (\(states))"]
        var values: StatementValues = []
        func add(_ sql: String, _ more: StatementValues = []) {
            parts.append(sql)
            values += more
        }
        if let table {
            add("table_id = (SELECT id FROM tables WHERE name_key = ?)", [table.lowercased()])
        }
        if isSearch {
            add(
                """
                (item_id LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE '\\'
                  OR reason LIKE ? ESCAPE '\\' OR payload LIKE ? ESCAPE '\\')
                """, Array(repeating: LikePattern.containing(text ?? ""), count: 4))
        }
        if let reason {
            if !Cause.hasMask(reason) {
                // Such a text is the cause of no other reason.
                add("reason = ?", [reason])
            } else if rowByRow {
                add("(reason = ? OR cause_of(reason) = ?)", [reason, reason])
            } else {
                // Each reason is read once from the index, and only these are asked for their cause. Without
                // the LIMIT, SQLite would ask for the cause of each operation.
                add(
                    """
                    reason IN (
                      SELECT reason FROM (
                        SELECT DISTINCT reason FROM operations INDEXED BY operations_by_reason
                        WHERE reason IS NOT NULL AND state IN (\(states)) LIMIT -1)
                      WHERE reason = ? OR cause_of(reason) = ?)
                    """, [reason, reason])
            }
        }
        switch status {
        case .code(let code)?: add("last_status = ?", [code])
        case .noAnswer?: add("last_status IS NULL")
        case nil: break
        }
        if let attempts { add("attempts >= ?", [attempts]) }
        if let before { add("created_at < ?", [before]) }
        if let actor { add("actor IN (?, ?)", [actor, Actor.namedClient(actor).rawValue]) }
        if let column {
            add(
                """
                EXISTS (SELECT 1 FROM json_each(changed_columns) WHERE value = ? COLLATE NOCASE)
                """, [column])
        }
        if let items {
            // An item refers to its first open operation, and each operation to its successor.
            add(
                """
                seq IN (
                  WITH RECURSIVE chain(seq) AS (
                    SELECT pending FROM items
                    WHERE table_id IN (SELECT id FROM tables WHERE name_key = ?)
                      AND id IN (\(items.map { _ in "?" }.joined(separator: ","))) AND pending IS NOT NULL
                    UNION
                    SELECT next.seq FROM operations AS next JOIN chain ON next.successor_of = chain.seq
                  )
                  SELECT seq FROM chain)
                """, [table?.lowercased()] + items)
        }
        return (parts.joined(separator: " AND "), values)
    }
}

/// The lists in the operations table as JSON arrays.
enum JSONList {
    static func text(_ names: [String]) -> String {
        if names.isEmpty { return "[]" }
        var bytes: [UInt8] = []
        for name in names {
            bytes.append(bytes.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            bytes.appendJSONString(name)
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    static func names(_ text: String) -> [String] {
        elements(text).compactMap(\.string)
    }

    /// An array of arrays of strings.
    static func lists(_ text: String) -> [[String]] {
        elements(text).map { ($0.array ?? []).compactMap(\.string) }
    }

    static func text(_ lists: [[String]]) -> String {
        "[" + lists.map { text($0) }.joined(separator: ",") + "]"
    }

    static func text(_ parameters: [QueryParameter]) -> String {
        text(parameters.map { [$0.name, $0.value, $0.raw] })
    }

    static func parameters(_ text: String) -> [QueryParameter] {
        lists(text).compactMap { parts in
            guard parts.count == 3 else { return nil }
            return QueryParameter(name: parts[0], value: parts[1], raw: parts[2])
        }
    }

    private static func elements(_ text: String) -> [JSONValue] {
        // The text was written by this type. If the store is damaged, the list is empty.
        text == "[]" ? [] : (try? JSONValue(parsing: text))?.array ?? []
    }
}

extension HTTPFields {
    /// Reads the text of ``stored``. If the store is damaged, there are no fields.
    init(stored text: String) {
        self.init()
        for pair in JSONList.lists(text) where pair.count == 2 {
            guard let name = HTTPField.Name(pair[0]) else { continue }
            append(HTTPField(name: name, value: pair[1]))
        }
    }

    /// The fields as stored with an operation: a JSON array of [name, value] arrays.
    var stored: String {
        isEmpty ? "[]" : JSONList.text(map { [$0.name.rawName, $0.value] })
    }

    /// Takes the fields of a later write to the same operation. Fields of the same names are replaced, the
    /// others stay.
    mutating func override(with later: HTTPFields) {
        for name in Set(later.map(\.name)) { self[fields: name] = later[fields: name] }
    }
}
