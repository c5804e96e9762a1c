import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Tells clients which tables of their store have changed, by the stream that a backend with changes has too
/// (docs/PROTOCOL.md). The stamps are those of the store, which clients see as `updatedAt`.
final class ClientChanges: Sendable {
    private struct Follower {
        let identity: String
        let stream: ByteStream
        /// Whether the caller may still be told; asked before anything is sent.
        var mayBeTold: @Sendable () -> Bool
        var told: [Source: Instant] = [:]
    }
    /// A table: one of the identity's own, or one that all identities share.
    private struct Source: Hashable {
        let table: TableName
        let isShared: Bool
    }
    private struct State {
        var followers: [ObjectIdentifier: Follower] = [:]
        /// The identities whose changes are being gathered.
        var gathering: Set<String> = []
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Opens a stream for the tables of a tenant. ``tell(_:)`` sends their stamps.
    /// - Parameter mayBeTold: whether its caller may still be told.
    /// - Returns: nil when ``Limits/changeFollowers`` follow, or the streams are closed.
    func open(
        _ identity: String, while mayBeTold: @escaping @Sendable () -> Bool
    ) -> ByteStream? {
        let stream = ByteStream(capacityBytes: Limits.changeBytes)
        let isTaken = state.withLock { state in
            guard !state.isClosed, state.followers.count < Limits.changeFollowers else {
                return false
            }
            state.followers[ObjectIdentifier(stream)] = Follower(
                identity: identity, stream: stream, mayBeTold: mayBeTold)
            return true
        }
        guard isTaken else { return nil }
        stream.write(
            Array(ChangeEvent.spread(milliseconds: Limits.eventRetryMilliseconds).text.utf8))
        stream.onCancel { [weak self, id = ObjectIdentifier(stream)] in self?.drop(id) }
        return stream
    }

    /// Adds a condition under which the caller of a stream may be told.
    func restrict(_ stream: ByteStream, while isAllowed: @escaping @Sendable () -> Bool) {
        state.withLock { state in
            let id = ObjectIdentifier(stream)
            guard let before = state.followers[id]?.mayBeTold else { return }
            state.followers[id]?.mayBeTold = { before() && isAllowed() }
        }
    }

    /// Takes the events of a store, and tells its followers soon, if there are any.
    func publish(_ events: [Event], of tenant: Tenant, _ work: BackgroundWork) {
        guard events.contains(where: { $0.kind == .item }) else { return }
        let begins = state.withLock { state in
            let hasFollowers = state.followers.values.contains {
                $0.identity == tenant.identity || tenant.signIn == nil
            }
            return hasFollowers && state.gathering.insert(tenant.identity).inserted
        }
        guard begins else { return }
        work.start {
            try? await Task.sleep(for: .milliseconds(Limits.changeGatherMilliseconds))
            _ = self.state.withLock { $0.gathering.remove(tenant.identity) }
            await self.tell(tenant)
        }
    }

    /// Tells followers the stamps of a tenant's tables that they were not told. Those of other identities are
    /// told of tables that all share.
    func tell(_ tenant: Tenant) async {
        guard let stamps = try? await tenant.store.tableStamps() else { return }
        closeUnauthorized()
        let full = state.withLock { state in
            state.followers.keys.filter { id in
                guard var follower = state.followers[id] else { return false }
                let isOwn = follower.identity == tenant.identity
                var text = ""
                for table in stamps where isOwn || tenant.signIn == nil && table.isPublic {
                    let source = Source(table: table.name, isShared: !isOwn)
                    if let told = follower.told[source], told >= table.stamp { continue }
                    follower.told[source] = table.stamp
                    text += ChangeEvent.change(table.name, updatedAt: table.stamp).text
                }
                state.followers[id] = follower
                return !text.isEmpty && !follower.stream.write(Array(text.utf8))
            }
        }
        // A client that does not read comes again, and is told the stamps then.
        for id in full { drop(id) }
    }

    /// Sends a comment line to every follower, so that nothing on the way closes an idle connection.
    func sendHeartbeat() {
        closeUnauthorized()
        let streams = state.withLock { $0.followers.mapValues(\.stream) }
        for (id, stream) in streams where !stream.write(Array(ChangeEvent.heartbeat.utf8)) {
            drop(id)
        }
    }

    /// Ends the streams of callers that may not be told any more.
    private func closeUnauthorized() {
        let followers = state.withLock { $0.followers }
        for (id, follower) in followers where !follower.mayBeTold() { drop(id) }
    }

    /// Ends all streams and refuses new ones.
    func closeAll() {
        let followers = state.withLock { state in
            state.isClosed = true
            defer { state.followers = [:] }
            return state.followers
        }
        for follower in followers.values { follower.stream.finish() }
    }

    private func drop(_ id: ObjectIdentifier) {
        let follower = state.withLock { $0.followers.removeValue(forKey: id) }
        follower?.stream.finish()
    }
}

// `GET /tables/changes` with `Accept: text/event-stream`.
extension ClientChanges {
    static func areAsked(by request: Request, _ path: TablePath?) -> Bool {
        guard let path, path.id == nil else { return false }
        return areAsked(by: request, listOf: path.table)
    }

    /// Whether a request on a table asks for the stream of changes instead of a list.
    static func areAsked(by request: Request, listOf table: TableName) -> Bool {
        request.head.method == .get
            && ChangeStream.isAsked(for: table, accept: request.head.headerFields[.accept])
    }

    /// The stream of changes for a caller whose tenant is known.
    func follow(
        _ request: TableRequest, _ token: Token?, _ tenants: TenantRegistry, _ work: BackgroundWork
    ) -> Response {
        let tenant = request.tenant
        let identity = tenant.identity
        let stream = open(identity) {
            tenant.signIn == nil || token.map { tenants.holds($0, identity) } ?? false
        }
        guard let stream else {
            return request.error(
                .unavailable(
                    "Too many clients follow the stream of changes.",
                    retryAfterSeconds: Limits.retryAfterSeconds))
        }
        work.start {
            await self.tell(tenant)
            if tenant.signIn != nil { await self.tell(tenants.anonymous) }
        }
        let fields: HTTPFields = [
            .contentType: ChangeStream.mediaType, .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        return Response(head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
    }
}
