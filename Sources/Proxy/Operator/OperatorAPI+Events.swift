import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Server-sent events.
extension OperatorAPI {
    func events(_ call: OperatorCall) throws(Problem) -> Response {
        let identity = try identity(call)
        let given = call.request.head.headerFields[.lastEventID] ?? call.query["lastEventId"]
        let after: Int64?
        if let given, !given.isEmpty {
            // An id that is none of ours is as good as one that is too old.
            after = Int64(given) ?? 0
        } else {
            after = nil
        }
        guard let caller = access.caller(call.request) else {
            throw Self.signInRequired("Sign in first.")
        }
        let opened = feed.open(identity: identity) { [access] in access.isAuthorized(caller) }
        guard let (id, stream) = opened else {
            throw .unavailable("Too many event streams are open.")
        }
        stream.write(Array("retry: 1000\n\n".utf8))
        work.start {
            var missed: EventBatch?
            // What comes later is led here by the store whenever it is open.
            if let after, let tenant = try? await tenants.open(identity) {
                missed = try? await tenant.store.events(after: after, limit: StoreLimits.events)
            }
            feed.release(id, missed: missed)
        }
        let fields: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        return Response(head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
    }
}
