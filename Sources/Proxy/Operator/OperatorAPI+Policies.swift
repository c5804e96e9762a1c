import HTTPMessage
import SyncCore
import TablesProtocol

// What the operator decides for each table.
extension OperatorAPI {
    func changeTable(_ call: OperatorCall) async throws(Problem) -> Response {
        let home = try home(call)
        let table = try Self.table(call)
        let body = try call.body()
        let known = try await asking { () throws(StoreError) in try await home.store.tables() }
        guard known.contains(where: { $0.name.lowercased() == table.text.lowercased() }) else {
            throw .notFound("There is no table \(table) here yet.")
        }
        let reads: ReadPolicy? = try Self.choice(body, "readPolicy")
        let writes: WritePolicy? = try Self.choice(body, "writePolicy")
        let conflicts: ConflictPolicy? = try Self.choice(body, "conflictPolicy")
        let unconditional: ConflictPolicy? = try Self.choice(body, "unconditionalPolicy")
        if let unconditional, unconditional != .ask, unconditional != .client {
            throw .invalid("unconditionalPolicy must be ask or client.")
        }
        let status = try await asking { () throws(StoreError) in
            try await home.store.updateTable(table) { status in
                status.readPolicy = reads ?? status.readPolicy
                status.writePolicy = writes ?? status.writePolicy
                status.conflictPolicy = conflicts ?? status.conflictPolicy
                status.unconditionalPolicy = unconditional ?? status.unconditionalPolicy
            }
        }
        return .json(.table(status, identity: home.identity))
    }

    /// One of the words of an enum, if the body names the member.
    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ body: JSONValue, _ name: String
    ) throws(Problem) -> Choice? where Choice.RawValue == String {
        guard let value = body[name] else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("\(name) must be one of \(all).")
        }
        return choice
    }
}
