import HTTPMessage
import SyncCore
import TablesProtocol

// Import of another store's export: its changes become new operations, and its history is added.
extension OperatorAPI {
    /// `POST /import`: takes an export, its changes as new operations and its history.
    func importChanges(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let changes = call.body["changes"]?.array
        let history = call.body["history"]?.array
        if changes == nil, history == nil {
            throw .invalid("Say changes, history or both; each is a list.")
        }
        var report = Answers.ImportResult()
        for (index, change) in (changes ?? []).enumerated() {
            do throws(Problem) {
                report.note(try await Self.submit(try Self.write(change), to: tenant.store), index)
            } catch {
                report.refuse(.changes, index, error.detail)
            }
        }
        try await importHistory(history ?? [], into: tenant.store, &report)
        return .json(report)
    }

    /// Submits a change, except for an update whose values are in the store already.
    /// - Returns: nil for such an update.
    private static func submit(
        _ write: LocalWrite, to store: Store
    ) async throws(Problem) -> WriteOutcome? {
        if case .update(let id, let columns) = write.action {
            do {
                if try await store.has(columns, in: write.table, id) { return nil }
            } catch {
                throw .unavailable(error.description)
            }
        }
        return await store.submit(write)
    }

    private static func write(_ change: JSONValue) throws(Problem) -> LocalWrite {
        guard let table = change["table"]?.string.flatMap({ TableName($0) }) else {
            throw .invalid("It names no table.")
        }
        return LocalWrite(table: table, action: try action(change), actor: .person)
    }

    private static func action(_ change: JSONValue) throws(Problem) -> WriteAction {
        let id = try id(change["itemId"])
        switch change["kind"]?.string {
        case "insert":
            // A provisional id of an integer table is valid only in its store.
            let kept = (id?.number ?? 0) < 0 ? nil : id
            return .insert(
                ItemBody(id: kept, columns: try columns(change, "columns")))
        case "update":
            return .update(try named(id), try columns(change, "columns"))
        case "replace":
            return .replace(try named(id), try columns(change, "columns"))
        case "delete": return .delete(try named(id))
        case "undelete": return .undelete(try named(id))
        default: throw .invalid("kind must be insert, update, replace, delete or undelete.")
        }
    }

    /// The user's columns of the object `name`. They are never those of the system: a name such as `version`
    /// is a column of a backend of another generation.
    private static func columns(_ value: JSONValue, _ name: String) throws(Problem) -> Columns {
        try columns(value[name], name: name, without: ["id"])
    }

    private static func named(_ id: ItemID?) throws(Problem) -> ItemID {
        guard let id else { throw .invalid("It names no item.") }
        return id
    }

    private static func id(_ value: JSONValue?) throws(Problem) -> ItemID? {
        switch value {
        case nil, .null: return nil
        case .string(let text):
            guard let id = try? ItemID(text) else { throw .invalid("\"\(text)\" is no id.") }
            return id
        default: throw .invalid("itemId must be a string.")
        }
    }
}

// Import of history entries in the operator API's own schema.
extension OperatorAPI {
    /// Imports entries, the latest first. An entry that cannot be read is reported, and the others are
    /// imported.
    func importHistory(
        _ list: [JSONValue], into store: Store, _ report: inout Answers.ImportResult
    ) async throws(Problem) {
        if list.isEmpty { return }
        var entries: [ImportedEntry] = []
        var indexes: [Int] = []
        for (index, value) in list.enumerated() {
            do throws(Problem) {
                entries.append(try Self.entry(value))
                indexes.append(index)
            } catch {
                report.refuse(.history, index, error.detail)
            }
        }
        let read = entries
        let outcomes = try await mappingErrors { () throws(StoreError) in
            try await store.importHistory(read)
        }
        for (outcome, index) in zip(outcomes, indexes) { report.note(outcome, index) }
    }

    private static func entry(_ value: JSONValue) throws(Problem) -> ImportedEntry {
        guard let at = value["at"]?.string.flatMap({ Instant(iso: $0) }) else {
            throw .invalid("at must be a time.")
        }
        guard let kind = value["kind"]?.string.flatMap(HistoryKind.init(rawValue:)) else {
            let all = HistoryKind.allCases.map(\.rawValue).joined(separator: ", ")
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
        case _?: return try columns(value, name)
        }
    }
}

extension Answers {
    /// What became of the elements of an import.
    package struct ImportResult: Codable, Sendable, Hashable {
        package fileprivate(set) var written = 0
        /// Inserts of items that are here already, updates that say what is here.
        package fileprivate(set) var present = 0
        /// Changes of items that are not here, or not any more.
        package fileprivate(set) var missing = 0
        package fileprivate(set) var historyAdded = 0
        /// Entries that are here already.
        package fileprivate(set) var historyPresent = 0
        package fileprivate(set) var refused = 0
        /// Why elements were refused.
        package fileprivate(set) var problems: [ImportProblem] = []

        /// The result of nothing.
        package init() {}
    }

    /// Why an element was refused.
    package struct ImportProblem: Codable, Sendable, Hashable {
        /// The list of the request.
        package let list: ImportList
        /// The element's place in its list, from 0.
        package let index: Int
        package let detail: String
    }

    /// A list of the request.
    package enum ImportList: String, Codable, Sendable, Hashable, CaseIterable {
        case changes, history
    }
}

extension Answers.ImportResult {
    /// Counts a change.
    /// - Parameter outcome: nil if its values were in the store already.
    mutating func note(_ outcome: WriteOutcome?, _ index: Int) {
        switch outcome {
        case nil: present += 1
        case .inserted, .updated, .deleted, .undeleted: written += 1
        case .alreadyExists: present += 1
        case .missing, .gone: missing += 1
        case .preconditionFailed:
            refuse(.changes, index, "Its version is another one.")
        case .unknownWhilePartial:
            refuse(
                .changes, index, "Its table was not pulled yet; sync first, then import again.")
        case .tableNotAllowed: refuse(.changes, index, Self.notAllowed)
        case .invalid(let sentence), .failed(let sentence): refuse(.changes, index, sentence)
        case .storageFull(let byBudget):
            refuse(
                .changes, index,
                byBudget ? "The disk budget of the store is used up." : "The disk is full.")
        case .readOnly: refuse(.changes, index, "The store cannot be written.")
        case .busy: refuse(.changes, index, "Too many writes wait; try again.")
        }
    }

    /// Counts an entry of history.
    mutating func note(_ outcome: ImportedOutcome, _ index: Int) {
        switch outcome {
        case .added: historyAdded += 1
        case .present: historyPresent += 1
        case .tableNotAllowed: refuse(.history, index, Self.notAllowed)
        }
    }

    /// Adds the result of a request for the elements from `start`.
    package mutating func add(_ result: Self, from start: Int) {
        written += result.written
        present += result.present
        missing += result.missing
        historyAdded += result.historyAdded
        historyPresent += result.historyPresent
        refused += result.refused
        problems += result.problems.map {
            .init(list: $0.list, index: $0.index + start, detail: $0.detail)
        }
    }

    /// Records an element that cannot be imported, with the reason.
    mutating func refuse(_ list: Answers.ImportList, _ index: Int, _ detail: String) {
        refused += 1
        problems.append(.init(list: list, index: index, detail: detail))
    }

    private static let notAllowed = "Its table is not one of those that are allowed."
}
