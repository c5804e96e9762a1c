import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Paths below an item, such as `/tables/todoitem/ID/MobileServiceFiles`: routes of the server's own.
struct ItemPaths: Sendable {
    let tenants: TenantRegistry
    let passThrough: PassThrough

    /// Passes a request on, under the id by which the backend knows the item. While the backend is out of reach, and
    /// for an item that waits to be sent, the answer is 503: the server would deny the item. A caller whose store is
    /// not known has no items here.
    func passOn(_ forwarded: ForwardedRequest, _ path: TablePath, _ id: ItemID) -> Answer {
        let request = forwarded.request
        guard tenants.anonymous.backendStatus.mayAsk else {
            return .now(
                forwarded.refused(.offline(retryAfterSeconds: Limits.retryAfterSeconds)))
        }
        passThrough.learnKey(request)
        let owner = tenants.resolve(
            forwarded.token, path.table, worker: request.connection.worker)
        return .later { reply in
            passThrough.work.start {
                var forwarded = forwarded
                if let store = await tenant(of: owner)?.store {
                    let standing = try? await store.standing(path.table, id, own: nil)
                    if standing?.operation?.kind == .insert, standing?.server == nil {
                        return reply(
                            forwarded.unavailable(
                                "The item waits to be sent to the backend, which does not know it before."
                            ))
                    }
                    let known = try? await store.presentID(of: id, in: path.table)
                    if let known, known != id {
                        let query = request.head.path?.drop { $0 != "?" } ?? ""
                        forwarded.request.head.path = path.naming(known) + query
                    }
                }
                passThrough.handle(forwarded).send(reply)
            }
        }
    }

    /// The caller's tenant, opened if it is closed; nil if it is not known.
    private func tenant(of owner: TenantRegistry.TokenResolution) async -> Tenant? {
        switch owner {
        case .tenant(let tenant, _): tenant
        case .closed(let identity, _, _), .doubtful(_, let identity, _):
            try? await tenants.open(identity)
        case .unknown, .ended: nil
        }
    }
}
