import HTTPMessage
import SyncCore
import TablesProtocol

// What another store's export holds: its changes, made here as new operations, and its history.
extension OperatorAPI {
    func importChanges(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let body = try call.body()
        let changes = try Self.list("changes", body)
        let history = try Self.list("history", body)
        if changes == nil, history == nil {
            throw .invalid("Say changes, history or both; each is a list.")
        }
        var report = ImportReport()
        for (index, change) in (changes ?? []).enumerated() {
            do throws(Problem) {
                report.note(try await Self.submit(try Self.write(change), to: tenant.store), index)
            } catch {
                report.refuse(.changes, index, error.detail)
            }
        }
        try await importHistory(history ?? [], into: tenant.store, &report)
        return .json(report.json)
    }

    /// Makes a change, unless it was made: an update that says what is here says nothing.
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

    private static func list(_ name: String, _ body: JSONValue) throws(Problem) -> [JSONValue]? {
        guard let value = body[name] else { return nil }
        guard let list = value.array, list.count <= Limits.importedOperations else {
            throw .invalid(
                "\(name) must be a list of at most \(Limits.importedOperations) elements.")
        }
        return list
    }

    private static func write(_ change: JSONValue) throws(Problem) -> LocalWrite {
        guard let table = change["table"]?.string.flatMap({ TableName($0) }) else {
            throw .invalid("It names no table.")
        }
        return LocalWrite(table: table, action: try action(change), actor: .person)
    }

    private static func action(_ change: JSONValue) throws(Problem) -> LocalWrite.Action {
        let id = try id(change["itemId"])
        switch change["kind"]?.string {
        case "insert":
            // A provisional id of an integer table means nothing anywhere else.
            let kept = (id?.number ?? 0) < 0 ? nil : id
            return .insert(
                ItemBody(id: kept, columns: try columns(change["columns"], name: "columns")))
        case "update":
            return .update(try named(id), try columns(change["columns"], name: "columns"))
        case "replace":
            return .replace(try named(id), try columns(change["columns"], name: "columns"))
        case "delete": return .delete(try named(id))
        case "undelete": return .undelete(try named(id))
        default: throw .invalid("kind must be insert, update, replace, delete or undelete.")
        }
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
