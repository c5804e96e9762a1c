import HTTPMessage
import HTTPTypes
import TablesProtocol

// Access: the addresses of clients and the sessions of browsers.
extension OperatorAPI {
    func accessList() -> Response {
        let all = capabilities.all
        return .json(.page(all.map { .access($0) }, next: nil, total: all.count))
    }

    func addAccess(_ call: OperatorCall) throws(Problem) -> Response {
        guard let name = try call.body()["name"]?.string, Capability.isName(name) else {
            throw .invalid(
                "name must be 1 to \(Limits.capabilityNameBytes) letters, digits, - _ and ., a "
                    + "letter or digit first.")
        }
        let making: Capabilities.Creation
        do {
            making = try capabilities.make(name)
        } catch {
            throw .unavailable(error.description)
        }
        switch making {
        case .nameTaken:
            throw Problem(
                status: .conflict, code: "name-taken",
                detail: "There is an address of that name; revoke it first, or take another name.")
        case .made(let capability, let secret):
            let called = call.request.head.authority ?? ""
            let host = rules.addresses?.clientsAuthority(called) ?? called
            return .json(
                .members(
                    ("name", .string(capability.name)),
                    ("url", .string("http://\(host)/c/\(secret)")),
                    ("madeAt", .time(capability.madeAt))), status: .created)
        }
    }

    func revokeAccess(_ call: OperatorCall) throws(Problem) -> Response {
        let isRevoked: Bool
        do {
            isRevoked = try capabilities.revoke(call.parameter("name"))
        } catch {
            throw .unavailable("It is revoked until the next start only: \(error.description)")
        }
        guard isRevoked else { throw .notFound("There is no address of that name.") }
        return Response(status: .noContent)
    }

    func sessionList(_ call: OperatorCall) -> Response {
        let caller = access.caller(call.request)
        let all = access.sessions
        return .json(
            .page(
                all.map { .session($0, isCurrent: caller == .session($0)) }, next: nil,
                total: all.count))
    }

    func revokeSession(_ call: OperatorCall) throws(Problem) -> Response {
        guard access.revoke(call.parameter("id")) else {
            throw .notFound("There is no such session; it may have ended.")
        }
        feed.endForbidden()
        return Response(status: .noContent)
    }
}

extension JSONValue {
    /// One capability address, without its secret, which is kept nowhere.
    static func access(_ entry: Capabilities.Entry) -> JSONValue {
        .members(
            ("name", .string(entry.capability.name)), ("madeAt", .time(entry.capability.madeAt)),
            ("lastUsedAt", .time(entry.lastUsedAt)))
    }

    /// One session of the dashboard.
    static func session(_ session: OperatorAccess.Session, isCurrent: Bool) -> JSONValue {
        .members(
            ("id", .string(session.id)), ("browser", .string(session.browser)),
            ("startedAt", .time(session.startedAt)), ("expiresAt", .time(session.expiresAt)),
            ("isCurrent", .bool(isCurrent)))
    }
}
