import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import TablesProtocol

/// Keeps the order of a client's writes and its calls of custom APIs: an API sees what the client wrote before, and
/// the client sees what the API has changed. docs/PROTOCOL.md has the order.
struct CustomAPIs: Sendable {
    let tenants: TenantRegistry
    let work: BackgroundWork
    let log: Logger

    /// Whether a request outside of `/tables` may change rows at the backend.
    /// - Parameter root: the normalised first segment of its path.
    static func mayChangeRows(_ method: HTTPRequest.Method, root: String) -> Bool {
        [.post, .put, .patch, .delete].contains(method)
            && ![".auth", "login", "push"].contains(root)
    }

    /// Sends the changes of the request's identity that wait, for at most ``Limits/apiPushSeconds``.
    /// - Returns: the identity; nil if it is not known.
    func prepare(_ forwarded: ForwardedRequest) async -> Tenant? {
        guard let tenant = await tenant(of: forwarded.token) else { return nil }
        guard tenant.backendStatus.sendsWrites, await hasWork(tenant) else { return tenant }
        let (end, ended) = AsyncStream.makeStream(of: Void.self)
        let late: @Sendable () -> Void = {
            log.notice(
                "a request was passed on before all earlier changes of its client were sent",
                metadata: [
                    "identity": "\(tenant.identity)",
                    "method": "\(forwarded.request.head.method.rawValue)",
                ])
            ended.finish()
        }
        work.start {
            await TimeOut.run(seconds: Limits.apiPushSeconds, late: late) {
                // A long push makes way for other runs.
                for _ in 0..<Limits.apiPushes where await hasWork(tenant) {
                    _ = await tenant.engine.push(isExplicit: false)
                }
                ended.finish()
            }
        }
        for await _ in end {}
        return tenant
    }

    /// Pulls the tables that an identity has used of late, after the answer to its request. After a success its reads
    /// wait for that. A request that failed may have done its work too: the tables are pulled soon.
    func follow(_ response: Response, of tenant: Tenant) {
        guard tenant.backendStatus.mayPullForRead else { return }
        let now = tenants.clock.uptime()
        let tables = tenant.use.used(now: now)
        switch response.head.status.code {
        case 200..<300:
            let since = tenant.use.beginWait(now: now)
            work.start {
                for table in tables { await tenant.engine.refresh(table, since: since) }
                tenant.use.endWait(since)
            }
        case 500...: for table in tables { tenant.engine.nudge(.read(table)) }
        case _: break
        }
    }

    private func tenant(of token: Token?) async -> Tenant? {
        guard let token else { return tenants.anonymous }
        guard let owner = tenants.tokens.owner(of: token), tenants.holds(token, owner.key) else {
            return nil
        }
        return try? await tenants.open(owner.key)
    }

    private func hasWork(_ tenant: Tenant) async -> Bool {
        (try? await tenant.store.hasDueChanges()) ?? false
    }
}
