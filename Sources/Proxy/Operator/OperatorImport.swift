import HTTPMessage
import SyncCore
import TablesProtocol

// Import of another store's export: its changes become new operations.
extension OperatorAPI {
    /// `POST /import`: takes the changes of an export as new operations.
    func importChanges(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        var report = Answers.ImportResult()
        for (index, change) in (call.body["changes"]?.array ?? []).enumerated() {
            do throws(Problem) {
                report.note(try await Self.submit(try Self.write(change), to: tenant.store), index)
            } catch {
                report.refuse(index, error.detail)
            }
        }
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

extension Answers {
    /// What became of the changes of an import.
    package struct ImportResult: Codable, Sendable, Hashable {
        package fileprivate(set) var written = 0
        /// Inserts of items that are here already, updates that say what is here.
        package fileprivate(set) var present = 0
        /// Changes of items that are not here, or not any more.
        package fileprivate(set) var missing = 0
        package fileprivate(set) var refused = 0
        /// Why changes were refused.
        package fileprivate(set) var problems: [ImportProblem] = []

        /// The result of nothing.
        package init() {}
    }

    /// Why a change was refused.
    package struct ImportProblem: Codable, Sendable, Hashable {
        /// The change's place in the request, from 0.
        package let index: Int
        package let detail: String
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
            refuse(index, "Its version is another one.")
        case .unknownWhilePartial:
            refuse(index, "Its table was not pulled yet; sync first, then import again.")
        case .tableNotAllowed:
            refuse(index, "Its table is not one of those that are allowed.")
        case .invalid(let sentence), .failed(let sentence): refuse(index, sentence)
        case .storageFull(let byBudget):
            refuse(
                index, byBudget ? "The disk budget of the store is used up." : "The disk is full.")
        case .readOnly: refuse(index, "The store cannot be written.")
        case .busy: refuse(index, "Too many writes wait; try again.")
        }
    }

    /// Adds the result of a request for the changes from `start`.
    package mutating func add(_ result: Self, from start: Int) {
        written += result.written
        present += result.present
        missing += result.missing
        refused += result.refused
        problems += result.problems.map { .init(index: $0.index + start, detail: $0.detail) }
    }

    /// Records a change that cannot be imported, with the reason.
    mutating func refuse(_ index: Int, _ detail: String) {
        refused += 1
        problems.append(.init(index: index, detail: detail))
    }
}
