import SyncCore
import TablesProtocol

// The history of an export, in the form in which the operator API shows it.
extension OperatorAPI {
    /// Takes entries over, the latest first; what cannot be read is refused by itself.
    func importHistory(
        _ list: [JSONValue], into store: Store, _ report: inout ImportReport
    ) async throws(Problem) {
        if list.isEmpty { return }
        var entries: [ImportedEntry] = []
        var places: [Int] = []
        for (index, value) in list.enumerated() {
            do throws(Problem) {
                entries.append(try Self.entry(value))
                places.append(index)
            } catch {
                report.refuse(.history, index, error.detail)
            }
        }
        let read = entries
        let outcomes = try await mappingErrors { () throws(StoreError) in
            try await store.importHistory(read)
        }
        for (outcome, index) in zip(outcomes, places) { report.note(outcome, index) }
    }

    private static func entry(_ value: JSONValue) throws(Problem) -> ImportedEntry {
        guard let at = value["at"]?.string.flatMap({ Instant(iso: $0) }) else {
            throw .invalid("at must be a time.")
        }
        guard let kind = value["kind"]?.string.flatMap(HistoryEntry.Kind.init(rawValue:)) else {
            let all = HistoryEntry.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("kind must be one of \(all).")
        }
        guard let summary = value["summary"]?.string else {
            throw .invalid("summary must be a string.")
        }
        return ImportedEntry(
            at: at, kind: kind, actor: try actor(value), table: try table(value),
            itemID: value["itemId"]?.string, operationID: value["operationId"]?.string,
            before: try row(value, "before"), after: try row(value, "after"), summary: summary)
    }

    private static func actor(_ value: JSONValue) throws(Problem) -> Actor {
        let actor: Actor
        switch value["actor"]?.string {
        case "client": actor = value["client"]?.string.map { .namedClient($0) } ?? .client
        case "person": actor = .person
        case "engine": actor = .engine
        default: throw .invalid("actor must be client, person or engine.")
        }
        return value["imported"]?.bool == true ? .elsewhere(actor) : actor
    }

    private static func table(_ value: JSONValue) throws(Problem) -> TableName? {
        switch value["table"] {
        case nil, .null: return nil
        case let named:
            guard let name = named?.string.flatMap({ TableName($0) }) else {
                throw .invalid("table must be the name of a table.")
            }
            return name
        }
    }

    private static func row(_ value: JSONValue, _ name: String) throws(Problem) -> Columns? {
        switch value[name] {
        case nil, .null: return nil
        case let row: return try columns(row, name: name)
        }
    }
}
