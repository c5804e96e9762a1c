import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Indexes that lists of a table asked for.
extension OperatorAPI {
    /// Begins to make the index `id`, or the one that `query` needs.
    func buildIndex(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        let choice = try Self.choice(try call.body())
        let start = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.startIndex(table, choice)
        }
        let most = StoreLimits.indexesPerTable
        switch start {
        case .started(let id):
            return .json(.members(("id", .number(Int(id)))), status: .accepted)
        case .present(let id): return .json(.members(("id", .number(Int(id)))))
        case .busy:
            throw Problem(
                status: .conflict, code: "index-busy",
                detail: "Another index is being made; wait for its end.")
        case .tooMany:
            throw Problem(
                status: .conflict, code: "too-many-indexes",
                detail: "A table has \(most) indexes at most: drop one first.")
        case .unknownTable: throw .notFound("There is no table \(table) here yet.")
        case .unknownIndex: throw .notFound("The table \(table) has no such index.")
        case .notServed:
            throw .invalid(
                "No index helps this query: it needs a column that is held to one value, or an order "
                    + "by a column.", code: "invalid-query")
        }
    }

    /// Drops an index, or forgets one that was only asked for.
    func dropIndex(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let table = try Self.table(call)
        guard let id = Int64(call.parameter("id")),
            try await mappingErrors({ () throws(StoreError) in
                try await tenant.store.dropIndex(table, id)
            })
        else { throw .notFound("The table \(table) has no such index.") }
        return Response(status: .noContent)
    }

    private static func choice(_ body: JSONValue) throws(Problem) -> IndexChoice {
        if let id = body["id"]?.integer { return .known(id) }
        guard let text = body["query"]?.string else {
            throw .invalid("Name the index by its id, or a query that needs one.")
        }
        do {
            let parameters = try QueryParameter.split(text[...])
            return .query(try TableQuery.parse(parameters, generation: .mobileApps))
        } catch {
            throw .invalid("\(error)", code: "invalid-query")
        }
    }
}
