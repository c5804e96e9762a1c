import TablesProtocol

/// An operation that is pushed, its table's policies, and what is known of its row at the backend. The
/// operation's own values are read as if they were the subject's.
@dynamicMemberLookup
struct PushSubject: Sendable {
    var operation: TableOperation
    /// The changed columns with their new values; all columns of an insert.
    let sent: Columns
    /// The user's columns of the row that the change started from.
    var base: Columns?
    var conflictPolicy = ConflictPolicy.ask
    /// See ``TableStatus/unconditionalPolicy``.
    var unconditionalPolicy = ConflictPolicy.ask
    /// The table's columns, as far as reads have shown them.
    var spellings = ColumnSpellings(text: "{}")
    /// See ``BackendBinding/owner()``.
    var owner: String?
    /// Whether this pass has already merged and resent the operation. It does so only once.
    var hasMerged = false
    /// Whether the row is read before anything is sent, because an earlier request may have taken effect,
    /// or because the row's version is not known, so that the request would have no condition.
    var isReadFirst = false
    /// Whether the table has existed on the backend: it was pulled, or an operation on it was applied.
    var tableExistedBefore = false
    /// When the backend's row was created, in a table with integer ids; nil where that is not known.
    var createdAt: String?
    /// The id above which the row of an insert with an integer id is looked for (``RowClaims``).
    var highestID: Int64 = 0
    /// What pushes have lately replaced of the row, once it is read.
    var replaced = ReplacedRows()
    /// Whether the backend must have the row, deleted or not, so that an answer without it is doubted for a while.
    var mustExist = false
    /// Whether the backend's row has a version; nil if it was not read.
    var hasVersion: Bool?

    init(_ operation: TableOperation) {
        self.operation = operation
        sent = operation.kind == .delete ? Columns() : operation.changes
        // The delete of an insert that may have arrived: only the inserted row is deleted. With an id of this
        // store's own there is no other row.
        let isOfInsert = operation.kind == .delete && !operation.hasGeneratedID
        base = operation.baseRow ?? (isOfInsert ? operation.payload : nil)
    }

    init(_ operation: TableOperation, _ table: TableRecord) {
        self.init(operation)
        conflictPolicy = table.conflictPolicy
        unconditionalPolicy = table.unconditionalPolicy
        spellings = table.spellings
    }

    subscript<Value>(dynamicMember path: KeyPath<TableOperation, Value>) -> Value {
        operation[keyPath: path]
    }

    /// The policy that decides a conflict of this operation.
    ///
    /// Under `merge` a person decides if either side deleted the row, and for an operation that may have
    /// taken effect or may still arrive: sending it over a newer value would apply it twice.
    /// - Parameter isGone: whether the backend has no such row, or keeps it as deleted.
    func policy(isGone: Bool) -> ConflictPolicy {
        if isUnconditional { return .client }
        guard conflictPolicy == .merge else { return conflictPolicy }
        let isMergeable = !isGone && self.kind != .delete && self.kind != .undelete
        return isMergeable && !self.maybeApplied && !self.mayArriveLate ? .merge : .ask
    }

    /// Whether the table's policy lets it win over other writers' changes: its client sent no condition.
    var isUnconditional: Bool { !self.conditional && unconditionalPolicy == .client }

    /// Whether nothing is known of the row that is deleted.
    var isUnknownRow: Bool { self.baseVersion == nil && base == nil }

    /// Whether an answer refuses the operation for another reason than the row's version: the row is still the
    /// one that the operation started from.
    func isRefused(_ refused: Refused, beside row: RemoteRow) -> Bool {
        switch self.kind {
        // The row has the insert's id, and that is the reason.
        case .insert: return false
        case .update, .replace: return !row.isDeleted && isUnchanged(row)
        case .delete: return !row.isDeleted && (isUnknownRow || isUnchanged(row))
        // The backend shows the row as deleted and refuses to bring it back.
        case .undelete: return row.isDeleted && (refused.isMissing || isUnchanged(row))
        }
    }

    /// Whether the body of a conflict is proven to be the backend's row, so that it need not be read.
    ///
    /// 1. It has the item's id and a version, and is none that a push has replaced, as a copy that lags behind has it.
    /// 2. A delete sends no item, so its body is no echo. It lacks no value of the base, unless it is deleted.
    /// 3. Servers answer 409 with the client's own item. After 412 to a request with a version, the body has another
    ///    version and a time, which no request has.
    /// 4. It has each column of the base and of what was sent, also where that is null: else it may be a part of a row.
    ///    It has no other column than reads have given: scripts may leave one out there.
    /// 5. In a column that was sent it has another value: else it may be an echo beside the present version. No echo is
    ///    deleted.
    func isProven(_ row: RemoteRow, by refused: Refused) -> Bool {
        guard let version = row.version, row.id.isLike(self.itemID), !isOlder(row, than: refused)
        else { return false }
        let base = base ?? Columns()
        if self.kind == .delete { return row.isDeleted || !row.columns.lacksValue(of: base) }
        guard self.kind != .insert, refused.status == 412, !isUnconditional,
            let sentVersion = self.baseVersion, row.updatedAt != nil,
            !sentVersion.utf8.elementsEqual(version.utf8)
        else { return false }
        let given = Set(row.columns.names.map { ExactName(lowercasing: $0) })
        let known = Set(base.names.map { ExactName(lowercasing: $0) })
        let needed = known.union(sent.names.map { ExactName(lowercasing: $0) })
        guard needed.isSubset(of: given),
            row.columns.names.allSatisfy({
                known.contains(ExactName(lowercasing: $0)) || spellings.hasBeenRead($0)
            })
        else { return false }
        return row.isDeleted || !mayBeEcho(row)
    }

    /// Whether a row has the value that was sent in each column that was sent and that it has.
    private func mayBeEcho(_ row: RemoteRow) -> Bool {
        let names = Set(row.columns.names.map { ExactName(lowercasing: $0) })
        let shown = sent.all.filter { names.contains(ExactName(lowercasing: $0.name)) }
        return row.columns.holds(Columns(shown))
    }

    /// Whether a server's answer to a write has a column of which it is not known whether reads give it.
    func mayHideColumns(_ row: RemoteRow) -> Bool {
        row.answersWrite && !row.columns.names.allSatisfy(spellings.hasBeenRead)
    }

    /// Whether a row that was read back is older than what the backend answered before.
    ///
    /// 1. It is as it was before a push of this store.
    /// 2. It has the version that was sent, and a 412 names another one. Any other 404, 410 or 412 may be about what
    ///    an earlier request of the operation has left, if that may have been applied.
    func isOlder(_ row: RemoteRow, than refused: Refused?) -> Bool {
        if replaced.contains(version: row.version, updatedAt: row.updatedAt) { return true }
        guard let refused, let sentVersion = self.baseVersion, sentVersion == row.version
        else { return false }
        if refused.status == 412, let version = refused.version { return version != sentVersion }
        return self.mayArriveLate && refused.status != 409
    }

    /// This operation with a base that has the new id of a user whose rows have moved
    /// (``Columns/following(_:of:changing:)``).
    func following(_ row: RemoteRow) -> PushSubject {
        var subject = self
        subject.base = base?.following(owner, of: row.columns, changing: sent)
        return subject
    }

    func isEqual(to row: RemoteRow) -> Bool { row.columns.holds(sent) }

    /// Whether a row is still the row that the change started from.
    ///
    /// Equal versions are not enough: a backend that is restored from an older backup issues a version a
    /// second time. So no column of the base may have another value. A column that is absent from the row
    /// is accepted, because the backend may never have stored it.
    func isUnchanged(_ row: RemoteRow) -> Bool {
        if let sentVersion = self.baseVersion, let version = row.version {
            guard sentVersion.utf8.elementsEqual(version.utf8) else { return false }
            guard !row.isDeleted, let base else { return true }
            let (before, now) = (ColumnValues(base), ColumnValues(row.columns))
            return !row.columns.changedNames(from: base).contains { name in
                before[name] != nil && now[name] != nil
            }
        }
        guard let base else { return false }
        return row.columns.holds(base) && base.holds(row.columns)
    }
}
