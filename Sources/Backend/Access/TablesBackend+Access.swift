import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

// What a request may do on a backend whose users' tokens are verified (`BackendOptions.Tokens.verified`).
//
// | request | who may |
// |---|---|
// | `/tables/…` | as the table says; 401 with a token that is not accepted |
// | `/tables` and paths below it of no table | everybody; the answer is 404 |
// | logins, `/.auth/…` | everybody; the token in the request is looked at there |
// | `OPTIONS`, `/-/livez`, `/-/readyz` | everybody |
// | everything else | the administrator |
extension TablesBackend {
    /// The access to the backend; nil while no token is accepted. A new value holds from the next request
    /// on.
    package var access: (any TokenVerifier)? {
        get { currentAccess.withLock { $0 } }
        set {
            currentAccess.withLock { $0 = newValue }
            // Those whose tokens are still good come again.
            changeFeed.endAll(closing: false)
        }
    }

    var verifiesTokens: Bool { options.tokens == .verified }

    /// Parses a request and finds its user.
    func call(_ request: Request) -> Call { withSender(Call(request)) }

    /// A request with its user.
    func withSender(_ call: Call) -> Call {
        var call = call
        guard verifiesTokens, call.method != .options else { return call }
        guard call.isUnderTables || call.isUnder(".auth"), let token = call.verifiableToken else {
            return call
        }
        call.sender = sender(token)
        return call
    }

    private func sender(_ token: String) -> Call.Sender {
        guard let access else { return .refused(.issuer) }
        do {
            return .user(try access.user(of: token, at: clock()))
        } catch {
            return .refused(error)
        }
    }

    /// The answer to a request that may not be made; nil for all others. The page of an allowed origin can
    /// read it.
    func accessRefusal(_ call: Call) -> Response? {
        guard var response = deniedAccess(call) else { return nil }
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    private func deniedAccess(_ call: Call) -> Response? {
        guard verifiesTokens, call.method != .options else { return nil }
        // A balancer may have looked at the method of the request line alone.
        if let name = Self.methodOverrides.first(where: { call.field($0) != nil }) {
            return answerer(call, nil).refused(Refusal(400, "\(name) is not supported."))
        }
        if call.isUnderTables {
            // A path of no table is answered 404 to everybody.
            guard call.tableName != nil, case .refused(let reason) = call.sender else {
                return nil
            }
            return unauthorized(call, reason)
        }
        if call.isUnder(".auth") || call.isUnder("login") || isAdmin(call) { return nil }
        if options.servesHealth, let health = Health(call), health != .metrics { return nil }
        var response = answerer(call, nil).refused(
            Refusal(401, "Send the administrator's token as Authorization: Bearer."))
        response.head.headerFields[.wwwAuthenticate] = "Bearer"
        return response
    }

    /// The fields by which a request overrides its method at some servers.
    private static let methodOverrides = [
        "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
    ]

    /// The answer to a token that is not accepted.
    func unauthorized(_ call: Call, _ reason: TokenRefusal) -> Response {
        meter.count(reason)
        var response = answerer(call, nil).refused(.badToken(profile))
        response.head.headerFields[.wwwAuthenticate] =
            "Bearer error=\"invalid_token\", error_description=\"\(reason.rawValue)\""
        return response
    }

    private func isAdmin(_ call: Call) -> Bool {
        guard let token = call.bearerToken, let access else { return false }
        return access.isAdministrator(token)
    }
}

extension Call {
    /// The sender of a request, where tokens are verified.
    enum Sender: Sendable, Hashable {
        /// It has no token.
        case anonymous
        case user(VerifiedUser)
        case refused(TokenRefusal)
    }

    /// The user; nil for an anonymous request.
    var user: VerifiedUser? {
        if case .user(let user) = sender { user } else { nil }
    }

    /// Whether the first part of the path is this one.
    func isUnder(_ part: String) -> Bool {
        request.path.split(separator: "/").first.map { $0 == part } ?? false
    }
}

/// Whether a request may do something with a table.
enum Permission: Sendable {
    case given
    /// The table's settings forbid it for all.
    case disabled
    /// It needs a user's token, and there is none.
    case signIn
}

extension BackendOptions {
    /// Whether a request may do something with a table. A table that is not there refuses nothing here.
    func permission(
        _ operation: TableOptions.Operation, _ call: Call, on name: TableName
    ) -> Permission {
        permission(operation, isUser: call.user != nil, on: name)
    }

    /// The same for a user, or for an anonymous request.
    func permission(
        _ operation: TableOptions.Operation, isUser: Bool, on name: TableName
    ) -> Permission {
        guard let table = table(name) else { return .given }
        if table.disabled.contains(operation) { return .disabled }
        guard tokens == .verified, !isUser else { return .given }
        let isForUsers = table.signedIn.contains(operation) || table.ownerColumn != nil
        return isForUsers ? .signIn : .given
    }
}

extension TableRequest {
    /// Refuses what the table's options forbid, or leave to users alone.
    func check(_ operation: TableOptions.Operation, _ name: TableName) throws(Refusal) {
        switch options.permission(operation, call, on: name) {
        case .given: break
        case .disabled: throw disabled(operation)
        case .signIn: throw signIn
        }
    }

    /// Refuses a write that asks what rows hold, by a filter or a test, where its sender may not read them.
    func checkAsking(_ name: TableName) throws(Refusal) {
        if options.tokens == .verified { try check(.read, name) }
    }
}

/// The user whose items a request sees and writes, and no others.
struct Owner: Sendable, Hashable {
    /// The column that says whose item it is, as the table spells it.
    let column: String
    /// The user's id.
    let user: String

    /// Whether an item is the user's. Bytes are compared, as the storage does: `==` also takes another
    /// Unicode form of the name.
    func owns(_ row: Row) -> Bool {
        row.columns[column]?.string?.utf8.elementsEqual(user.utf8) ?? false
    }

    /// Columns without that of the owner in any spelling: no client gives an item to another user.
    func removed(from columns: Columns) -> Columns {
        let name = column.lowercased()
        return Columns(columns.all.filter { $0.name.lowercased() != name })
    }

    /// Columns with the user as the owner.
    func added(to columns: Columns) -> Columns {
        var columns = removed(from: columns)
        columns[column] = .string(user)
        return columns
    }
}

extension TableRequest {
    /// The user whose items the request sees and writes in a table, and no others; nil for all items.
    ///
    /// Where tokens are verified, the table's options name the column. Otherwise each table that needs
    /// a sign-in has items for each user, in all flavours but that of Express.
    func owner(in table: StoredTable) throws -> Owner? {
        if options.tokens == .verified {
            guard let column = options.table(table.name)?.ownerColumn else { return nil }
            guard let user = call.user else { throw signIn }
            return Owner(column: table.spelling(column), user: user.id)
        }
        guard table.options.needsSignIn, profile.separatesUsers,
            let token = call.token(profile.generation),
            let user = try storage.user(ofToken: token)
        else { return nil }
        return Owner(column: "userId", user: user)
    }

    /// An item by its id, among those that the request sees.
    func find(_ table: StoredTable, _ id: String) throws -> Row? {
        guard let row = try storage.get(id, in: table.name) else { return nil }
        let owner = try owner(in: table)
        return owner?.owns(row) ?? true ? row : nil
    }
}
