import HTTPMessage
import SyncCore
import TablesProtocol

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
        return .json(
            .page(page) { row in
                .members(
                    ("id", .string(row.id.text)), ("createdAt", .text(row.createdAt)),
                    ("updatedAt", .text(row.updatedAt)), ("version", .text(row.version)),
                    ("deleted", .bool(row.deleted)), ("deletedSince", .bool(row.deletedSince)),
                    ("columns", .object(row.columns.all.map { .init($0.name, $0.value.value) })))
            })
    }
}
