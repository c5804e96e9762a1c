import TablesProtocol

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
