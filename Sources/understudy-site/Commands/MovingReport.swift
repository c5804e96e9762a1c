import Backend
import Platform
import Program
import TablesProtocol

/// What moved into a backend, for a person and as JSON.
struct MovingReport {
    /// How many rows of one table had which outcome.
    typealias Counts = [MoveOutcome: Int]

    /// A row to look at.
    struct Row {
        let place: String
        let table: String
        let id: String
        let outcome: MoveOutcome
    }

    private(set) var tables: [String: Counts] = [:]
    private(set) var rows: [Row] = []
    /// The rows of a table that are another user's than the one who was named: how many, and the first owner.
    private var otherOwners: [String: (rows: Int, example: String)] = [:]

    /// Counts a row, and keeps it where a person may want to look at it.
    /// - Parameter isAhead: whether its stamp is so far ahead of the clock that it is not taken over.
    mutating func add(
        _ outcome: MoveOutcome, _ id: String, of table: TableName, at place: String, isAhead: Bool
    ) {
        tables[table.text, default: [:]][outcome, default: 0] += 1
        let isShown =
            switch outcome {
            case .undecided, .changedHere, .deletedHere: true
            case .added, .replaced: isAhead
            case .same, .older: false
            }
        if isShown {
            rows.append(Row(place: place, table: table.text, id: id, outcome: outcome))
        }
    }

    /// Counts a row of a table that is another user's than the one who was named.
    /// - Parameter otherOwner: that owner, as JSON.
    mutating func add(otherOwner: String, of table: TableName) {
        otherOwners[table.text, default: (0, otherOwner)].rows += 1
    }

    /// Whether there was a row of another user.
    var hasOtherOwners: Bool { !otherOwners.isEmpty }

    /// The rows of other users by table.
    var otherOwnersJSON: JSONValue {
        .array(
            otherOwners.sorted { $0.key < $1.key }.map { table, found in
                .members(
                    ("table", .string(table)), ("rows", .number(found.rows)),
                    ("example", .string(found.example)))
            })
    }

    /// The lines on rows of other users.
    /// - Parameter advice: what to do where another id is the same user's.
    func otherOwnerLines(_ owner: MovedOwner?, advice: String) -> [String] {
        guard let owner else { return [] }
        return otherOwners.sorted { $0.key < $1.key }.map { table, found in
            "\(table): \(found.rows) with another owner than \(owner.user), such as \(found.example), who "
                + "alone sees them. If that is the same user, \(advice)."
        }
    }

    /// How many rows had an outcome.
    func count(_ outcome: MoveOutcome) -> Int {
        tables.values.reduce(0) { $0 + ($1[outcome] ?? 0) }
    }

    /// How many rows of a table were seen.
    func count(of table: TableName) -> Int {
        tables[table.text]?.values.reduce(0, +) ?? 0
    }

    /// The tables by name.
    var tablesJSON: JSONValue {
        .array(
            tables.sorted { $0.key < $1.key }.map { name, counts in
                .object(
                    [.init("table", .string(name))]
                        + MoveOutcome.allCases.map {
                            .init($0.rawValue, .number(counts[$0] ?? 0))
                        })
            })
    }

    /// The rows to look at.
    var rowsJSON: JSONValue {
        .array(
            rows.map {
                .members(
                    ("place", .string($0.place)), ("table", .string($0.table)),
                    ("id", .string($0.id)), ("outcome", .string($0.outcome.rawValue)))
            })
    }

    /// The lines for a person.
    func lines(dryRun: Bool) -> [String] {
        var lines = tables.sorted { $0.key < $1.key }.map { name, counts in
            let parts = MoveOutcome.allCases.compactMap { outcome in
                counts[outcome].map { "\($0) \(Self.words(outcome))" }
            }
            return "\(name): \(parts.joined(separator: ", "))"
        }
        if dryRun { lines.append("Nothing was written.") }
        lines += rows.prefix(Program.Limits.shownRows).map {
            "\($0.place): \($0.table) \($0.id) \(Self.sentence($0.outcome))"
        }
        if rows.count > Program.Limits.shownRows {
            lines.append("and \(rows.count - Program.Limits.shownRows) more; --json lists all")
        }
        return lines
    }

    private static func words(_ outcome: MoveOutcome) -> String {
        switch outcome {
        case .added: "new"
        case .replaced: "newer than here"
        case .same: "here already"
        case .older: "older than here"
        case .changedHere: "changed here since"
        case .deletedHere: "deleted here since"
        case .undecided: "undecided"
        }
    }

    private static func sentence(_ outcome: MoveOutcome) -> String {
        switch outcome {
        case .undecided:
            "differs from the row here, and no stamp says which is newer; that one stays. Where none is here, "
                + "it may have been deleted so long ago that no trace is kept; it stays away."
        case .changedHere: "was changed here too, from an older row; the row that is here stays."
        case .deletedHere: "was deleted here for good; it stays away."
        case .added, .replaced:
            "has an updatedAt more than a day ahead of this machine's clock; the row here has a new one."
        case .same, .older: outcome.rawValue
        }
    }
}
