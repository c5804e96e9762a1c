import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Tables.
extension OperatorAPI {
    /// `GET /tables`: lists the tables.
    func tables(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let tables = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.tables()
        }
        return .json(
            Page(tables.map { Answers.TableStatus($0, identity: tenant.identity) }))
    }

    /// Changes a table's policies: in the store of `?identity=`, or without it in all stores.
    func changeTable(_ call: OperatorCall) async throws(Problem) -> Response {
        let named = try identity(call)
        let isForAll = call.query["identity"] == nil
        let table = try Self.table(call)
        let policies = try TablePolicies(call.body)
        let first = try await tenant(isForAll ? Identity.anonymousKey : named)
        let changed = try await mappingErrors { () throws(StoreError) in
            try await first.store.updateTable(table, policies.apply)
        }
        if isForAll {
            let left = try await mappingErrors { () throws(StoreError) in
                try await tenants.updateUsersTables([
                    PolicySetting(table: table, policies: policies)
                ])
            }
            if left > 0 { throw .storesLeft(left, of: tenants.identities.count) }
        }
        return .json(Answers.TableStatus(changed, identity: named))
    }

    func removeTable(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let force = call.body["force"]?.bool ?? false
        switch await tenant.engine.remove(table, force: force) {
        case .removed(let items, let discarded):
            return .json(
                Answers.RemoveResult(table: table.text, removed: items, discarded: discarded))
        case .refusedPending(let count):
            throw Problem(
                status: .conflict, code: "operations-open",
                detail:
                    "The table \(table) has \(Self.notSent(count)), and all of them would be lost for "
                    + "good: say force (--force) to give them up.")
        case .refusedRunning:
            throw Problem(
                status: .conflict, code: "sending",
                detail: "A sync runs; try again when it has ended.")
        case .unknownTable: throw .notFound("There is no table \(table) here.")
        case .failed(let sentence): throw .unavailable(sentence)
        }
    }

    /// How many changes stand in the way of a removal.
    static func notSent(_ count: Int) -> String {
        count == 1
            ? "1 change that is not on the server" : "\(count) changes that are not on the server"
    }

    /// The rows of the backend that are set aside, since they cannot be stored.
    func setAsideRows(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let limit = try call.limit()
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.setAsideRows(of: table, after: call.query["after"], limit: limit)
        }
        guard let page else { throw .notFound("There is no table \(table) here yet.") }
        return .json(page)
    }
}

// The backend's rows as they are known here: what a new backend begins with.
extension OperatorAPI {
    /// `GET /tables/{table}/server-rows`: the backend's rows as the store last heard of them.
    func serverRows(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let limit = try call.limit()
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.serverRows(of: table, after: call.query["after"], limit: limit)
        }
        guard let page else { throw .notFound("There is no table \(table) here yet.") }
        return .json(page)
    }
}
