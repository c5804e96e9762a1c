import HTTPMessage
import SyncCore
import TablesProtocol

// Changes that another store's export holds, made here as new operations.
extension OperatorAPI {
    func importChanges(_ call: OperatorCall) async throws(Problem) -> Response {
        let home = try home(call)
        guard let changes = try call.body()["changes"]?.array,
            changes.count <= Limits.importedOperations
        else {
            throw .invalid(
                "changes must be a list of at most \(Limits.importedOperations) changes.")
        }
        var report = ImportReport()
        for (index, change) in changes.enumerated() {
            do throws(Problem) {
                report.note(await home.store.submit(try Self.write(change)), index)
            } catch {
                report.refuse(index, error.detail)
            }
        }
        return .json(report.json)
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

/// What became of imported changes.
private struct ImportReport {
    private var written = 0
    private var present = 0
    private var missing = 0
    private var problems: [JSONValue] = []

    mutating func note(_ outcome: WriteOutcome, _ index: Int) {
        switch outcome {
        case .inserted, .updated, .deleted, .undeleted: written += 1
        case .alreadyExists: present += 1
        case .missing, .gone: missing += 1
        case .preconditionFailed, .versionConflict: refuse(index, "Its version is another one.")
        case .unknownWhilePartial:
            refuse(index, "Its table was not pulled yet; sync first, then import again.")
        case .tableNotAllowed: refuse(index, "Its table is not one of those that are allowed.")
        case .invalid(let sentence), .failed(let sentence): refuse(index, sentence)
        case .storageFull: refuse(index, "The disk is full.")
        case .readOnly: refuse(index, "The store cannot be written.")
        case .busy: refuse(index, "Too many writes wait; try again.")
        }
    }

    mutating func refuse(_ index: Int, _ detail: String) {
        problems.append(.members(("index", .number(index)), ("detail", .string(detail))))
    }

    var json: JSONValue {
        .members(
            ("written", .number(written)), ("present", .number(present)),
            ("missing", .number(missing)), ("refused", .number(problems.count)),
            ("problems", .array(problems)))
    }
}
