import HTTPMessage
import HTTPTypes
import SyncCore
package import TablesProtocol

/// Import of another store's export: its changes become new operations.
package struct ImportRoutes: Sendable {
    let tenants: TenantRegistry

    package static let take = Route<Answers.ImportResult>(
        .post, "/import", "importChanges", .operations,
        "Bring in the changes of an export as new operations",
        details:
            "Each change is a write of its own. What is there already is left alone, so the same changes "
            + "can be sent again.",
        answers: "What became of the changes.", body: [changes], bodyName: "ImportRequest")

    var routes: [OperatorRoute] { [.later(Self.take, tenants, take)] }

    package static let changes = Field<[JSONValue]>(
        "changes",
        .list(
            .object([table, itemID, kind, columns]), counts: 0...Limits.importedOperations),
        isRequired: true)
    private static let table = Field<String>("table", .anyText, isRequired: true)
    private static let itemID = Field<String>(
        "itemId", .nullable(.anyText), "May be left out for an insert.")
    private static let kind = Field<OperationKind>(
        "kind", .words(of: OperationKind.self, name: "OperationKind"), isRequired: true)
    private static let columns = Field<JSONValue>(
        "columns", .nullable(.row),
        "For insert, update and replace: the user's columns, whatever their names; `id` in it says nothing."
    )

    private func take(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.ImportResult {
        var report = Answers.ImportResult()
        for (index, change) in try call.body.required(Self.changes).enumerated() {
            do {
                report.note(try await Self.submit(try Self.write(change), to: tenant.store), index)
            } catch {
                report.refuse(index, Problem.of(error).detail)
            }
        }
        return report
    }

    /// Submits a change, except for an update whose values are in the store already.
    /// - Returns: nil for such an update.
    private static func submit(
        _ write: LocalWrite, to store: Store
    ) async throws(StoreError) -> WriteOutcome? {
        if case .update(let id, let columns) = write.action,
            try await store.has(columns, in: write.table, id)
        {
            return nil
        }
        return await store.submit(write)
    }

    private static func write(_ change: JSONValue) throws(Problem) -> LocalWrite {
        guard let table = change[table].flatMap({ TableName($0) }) else {
            throw .invalid("It names no table.")
        }
        return LocalWrite(table: table, action: try action(change), actor: .person)
    }

    private static func action(_ change: JSONValue) throws(Problem) -> WriteAction {
        let id = try id(change)
        switch try change.required(kind) {
        case .insert:
            // A provisional id of an integer table is valid only in its store.
            let kept = (id?.number ?? 0) < 0 ? nil : id
            return .insert(ItemBody(id: kept, columns: try columns(of: change)))
        case .update: return .update(try named(id), try columns(of: change))
        case .replace: return .replace(try named(id), try columns(of: change))
        case .delete: return .delete(try named(id))
        case .undelete: return .undelete(try named(id))
        }
    }

    /// The user's columns of a change. They are never those of the system: a name such as `version` is a column of
    /// a backend of another generation.
    private static func columns(of change: JSONValue) throws(Problem) -> Columns {
        try Columns(change[columns], name: "columns", without: ["id"])
    }

    private static func named(_ id: ItemID?) throws(Problem) -> ItemID {
        guard let id else { throw .invalid("It names no item.") }
        return id
    }

    private static func id(_ change: JSONValue) throws(Problem) -> ItemID? {
        guard let text = change[itemID] else { return nil }
        guard let id = try? ItemID(text) else { throw .invalid("\"\(text)\" is no id.") }
        return id
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
