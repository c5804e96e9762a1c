import Backend
import TablesProtocol

/// One line of an export, as far as a backend needs it.
enum ExportedLine {
    /// A row of the old backend, without what clients have changed since.
    case row(TableName, IDKind, MovedRow)
    /// An open operation. It stays in the queue of its Understudy.
    case operation(JSONValue)
    /// A row as clients see it, with their changes.
    case item
    /// The first line: whose export it is.
    case begin(identity: String?)
    /// The last line: how many lines of a type the export has; nil where it does not say so.
    case end(rows: Int?, operations: Int?)
    case other

    /// What is wrong with a line, as the end of a sentence.
    struct Fault: Error {
        let words: String
    }

    /// Reads a line. The columns stay the text that they are.
    init(_ bytes: [UInt8]) throws(Fault) {
        let members: Columns
        do {
            members = try Columns(parsing: bytes, maxDepth: TablesProtocol.Limits.envelopeDepth)
        } catch {
            throw Fault(words: "is no JSON object: \(error.description)")
        }
        switch members["type"]?.string {
        case "export": self = .begin(identity: members["identity"]?.string)
        case "server": self = try Self.row(members)
        case "operation":
            self = .operation(.object(members.all.map { .init($0.name, $0.value.value) }))
        case "item": self = .item
        case "end":
            self = .end(
                rows: Self.count(members, "server"), operations: Self.count(members, "operations"))
        case _?: self = .other
        case nil: throw Fault(words: "has no type")
        }
    }

    private static func row(_ members: Columns) throws(Fault) -> ExportedLine {
        guard let table = members["table"]?.string.flatMap({ TableName($0) }) else {
            throw Fault(words: "names no table")
        }
        guard let kind = members["idKind"]?.string.flatMap(IDKind.init(rawValue:)) else {
            throw Fault(words: "does not say what kind of ids its table has")
        }
        guard let id = members["id"]?.string, isID(id, kind) else {
            throw Fault(words: "has no id that an item can have")
        }
        let columns: Columns
        do {
            columns = try Columns(parsing: members["columns"]?.text ?? "")
        } catch {
            throw Fault(words: "has no columns")
        }
        guard let deleted = members["deleted"]?.value.bool else {
            throw Fault(words: "does not say whether the row is deleted")
        }
        var updatedAt = try instant(members, "updatedAt")
        // The deletion was later than this. A row that is later still was changed after it.
        if members["deletedSince"]?.value.bool == true {
            updatedAt = updatedAt.map { Instant(ticks: $0.ticks + 1) }
        }
        let row = MovedRow(
            id: id, columns: columns, createdAt: try instant(members, "createdAt"),
            updatedAt: updatedAt, version: try text(members, "version"), deleted: deleted)
        if let words = row.fault(kind) { throw Fault(words: words) }
        return .row(table, kind, row)
    }

    private static func count(_ members: Columns, _ name: String) -> Int? {
        members[name]?.value.integer.map { Int($0) }
    }

    private static func isID(_ text: String, _ kind: IDKind) -> Bool {
        switch kind {
        case .integer: Int64(text).map { $0 > 0 && String($0) == text } ?? false
        case .string: (try? ItemID(text)) != nil
        }
    }

    /// The text of a member; nil where the backend said none.
    private static func text(_ members: Columns, _ name: String) throws(Fault) -> String? {
        guard let value = members[name]?.value, value != .null else { return nil }
        guard let text = value.string else { throw Fault(words: "has a \(name) that is no text") }
        return text
    }

    /// The instant in full precision, 100 ns; nil where the backend said none, or a text that is no time.
    private static func instant(_ members: Columns, _ name: String) throws(Fault) -> Instant? {
        try text(members, name).flatMap { Instant(parsing: $0) }
    }
}
