import Storage
import TablesProtocol

/// An insert into a table whose integer ids the backend assigns. No id connects the row with the insert, so
/// a lost answer is recognised by a new row with equal columns.
enum IntegerInsert {
    /// Asks for the highest id. The insert's id will be above it.
    static let highest = PageQuery(
        TableQuery(orderBy: [Ordering(.column(.id), descending: true)], top: 1))

    static let latest = PageQuery(
        TableQuery(
            orderBy: [Ordering(.column(.id), descending: true)], top: SyncLimits.pullPageRows))

    /// Asks for the rows that were inserted since.
    static func since(_ highest: Int64) -> PageQuery {
        let filter = Expression.binary(
            .greaterThan, .column(.id), .literal(.number(NumberLiteral(highest))))
        return PageQuery(
            TableQuery(
                filter: filter, orderBy: [Ordering(.column(.id))], top: SyncLimits.pullPageRows))
    }

    /// Judges the backend's new rows after an insert whose outcome is unknown.
    ///
    /// One equal row that no other operation has claimed is the inserted row. No such row means that the
    /// insert never arrived. Between several, a person decides. A list with older rows ignored its filter
    /// and may lack new rows, so it proves nothing.
    /// - Parameter claim: what other changes of this store have to do with a row.
    static func judge(
        _ subject: PushSubject, _ answer: RemoteAnswer, after highest: Int64,
        claim: (RemoteRow) throws -> RowClaim
    ) rethrows -> PushOutcome {
        if case .missing(let status, _) = answer { return Verdict.noTable(subject, status) }
        guard case .rows(let page) = answer else { return Verdict.noVerdict(answer) }
        if page.elements.contains(where: { ($0.itemID?.number ?? 0) <= highest }) {
            return Verdict.inconclusive(
                "The backend's list does not keep to its filter, so whether the item arrived cannot be "
                    + "told.")
        }
        var candidates: [RemoteRow] = []
        for row in page.rows where !row.isDeleted && subject.isEqual(to: row) {
            switch try claim(row) {
            case .none: candidates.append(row)
            case .taken: break
            case .isBeingDeleted:
                return Verdict.inconclusive(
                    "The row \(row.id) is being deleted. Whether it comes back as the new one shows then."
                )
            }
        }
        switch candidates.count {
        case 0: return Verdict.sendAgain(subject)
        case 1: return .applied(row: candidates[0])
        default:
            let ids = candidates.map(\.id.text).joined(separator: ", ")
            return .quarantined(
                reason: "ambiguousInsert: it may be any of the equal items \(ids).")
        }
    }
}

/// What other changes of this store have to do with a row that may be an insert's.
enum RowClaim: Sendable, Hashable {
    case none
    /// It is another item's row.
    case taken
    /// It is the row of an item whose delete is to be sent or has no verdict yet. After it the backend may
    /// have given the id again.
    case isBeingDeleted
}

/// Which rows of the backend belong to other items than an insert whose outcome is unknown: those of living
/// items and of open operations.
struct RowClaims: InTransaction {
    let transaction: Transaction

    /// The claim on a row of the backend, other than the insert's own.
    ///
    /// 1. If the item here with this id was another row, there is no claim: the backend has given the id again.
    /// 2. If the item has an open delete, the row may still be the one that is to be deleted.
    /// 3. If another insert got the row, or it was here before this insert was written, it is that item's. If a pull
    ///    brought it later, it may be this insert's.
    func claim(on row: RemoteRow, besides insert: TableOperation) throws -> RowClaim {
        guard let table = try tables.table(id: insert.tableID),
            let here = try items.row(table, exactly: row.id), here.id != insert.itemID
        else { return .none }
        guard isSame(here, row) else { return .none }
        let deletes = try queue.chain(of: here).filter { $0.kind == .delete }
        if deletes.contains(where: { $0.state != .conflict && $0.state != .quarantined }) {
            return .isBeingDeleted
        }
        if here.deleted, deletes.isEmpty { return .none }
        let mine = try items.row(table, exactly: insert.itemID)
        if let first = here.rowID, let own = mine?.rowID, first < own { return .taken }
        return try items.hasEarlierID(row.id, table) ? .taken : .none
    }

    private func isSame(_ here: ItemRow, _ row: RemoteRow) -> Bool {
        if here.serverCreatedAt != nil, row.createdAt != nil {
            return !row.wasCreated(otherThan: here.serverCreatedAt)
        }
        guard let known = here.pending == nil ? here.columns : here.shadow else { return false }
        return row.columns.changedNames(from: known).isEmpty
    }

    /// Whether a row that an insert of unknown outcome would take belongs to another item, or may belong to an equal
    /// insert that is being sent.
    func mayBeAnothers(_ row: RemoteRow, than insert: TableOperation) throws -> Bool {
        guard try claim(on: row, besides: insert) == .none else { return true }
        let sending = try transaction.all(
            """
            \(TableOperation.select) WHERE state = 'sending' AND table_id = ? AND kind = 'insert' AND seq <> ?
            """, [insert.tableID, insert.seq], TableOperation.init)
        return sending.contains { row.columns.holds($0.changes) }
    }

    /// The row of an insert of unknown outcome has an id above this one: the backend's highest id when the insert was
    /// sent. If this store was deleting rows at that time, the backend may have given one of their ids instead.
    func highestID(of insert: TableOperation) throws -> Int64 {
        let highest = insert.highestID ?? 0
        guard let sent = insert.firstAttemptAt else { return highest }
        let since = sent.milliseconds - SyncLimits.deletesBesideInsertMilliseconds
        let deleted = try transaction.integer(
            """
            SELECT min(CAST(item_id AS INTEGER)) FROM operations
            WHERE table_id = ? AND kind = 'delete' AND attempts > 0
              AND (closed_at IS NULL OR closed_at >= ?)
            """, [insert.tableID, since])
        return min(highest, (deleted ?? .max) - 1)
    }
}

extension RemotePage {
    /// Leaves only rows with integer ids whose own times allow that an insert sent at this time has made them.
    mutating func keepIntegerRows(insertedAfter time: Instant) {
        let earliest = time.advanced(by: .seconds(-SyncLimits.clockDifferenceSeconds))
        elements.removeAll { element in
            guard let row = element.row, row.id.kind == .integer else { return true }
            return row.createdAt.flatMap { Instant(parsing: $0) }.map { $0 < earliest } ?? false
        }
    }
}

extension RemoteRow {
    /// Whether the row was created at another time than the known row with its id, so that it is another row. False
    /// if one of the times is not known.
    func wasCreated(otherThan known: String?) -> Bool {
        guard let known = known.flatMap({ Instant(parsing: $0) }),
            let own = createdAt.flatMap({ Instant(parsing: $0) })
        else { return false }
        // An answer and a list may write it with more or fewer digits.
        return (known.milliseconds - own.milliseconds).magnitude > 1
    }
}

extension RemoteAnswer {
    /// The answer without rows to which the backend gave the id of the operation's item again. The item's own
    /// row is gone.
    func leavingOut(rowsThatAreNot subject: PushSubject) -> RemoteAnswer {
        if case .rows(var page) = self {
            page.elements.removeAll { $0.row.map(subject.isAnother) ?? false }
            return .rows(page)
        }
        guard case .conflict(let status, let row?, let text) = self, subject.isAnother(row) else {
            return self
        }
        return .conflict(status: status, nil, text: text)
    }
}

extension PushSubject {
    /// Whether a row with the item's id is another row than the one that is known.
    fileprivate func isAnother(_ row: RemoteRow) -> Bool {
        row.id == self.itemID && row.wasCreated(otherThan: createdAt)
    }
}
