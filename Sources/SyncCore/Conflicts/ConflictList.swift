public import TablesProtocol

/// What decides a conflict: both sides changed the row, and not only in different columns. Changes of
/// different columns are merged under every policy, unless an earlier request may have taken effect.
public enum ConflictPolicy: String, Codable, Sendable, Hashable, CaseIterable {
    /// A person decides.
    case ask
    /// The local value wins in each column that both sides changed. A person decides if either side deleted
    /// the row, or if an earlier request may have taken effect or may still arrive.
    case merge
    /// The local change wins, also if either side deleted the row.
    case client
    /// The backend's row wins; the local change is discarded.
    case server
}

/// The sentence that tells a person why an operation is in conflict.
enum ConflictReason {
    /// The sentence.
    /// - Parameters:
    ///   - kind: what the local operation does.
    ///   - isGone: whether the backend has no such row, or keeps it as deleted.
    static func sentence(_ kind: OperationKind, isGone: Bool) -> String {
        switch (kind, isGone) {
        case (.delete, _): "It was changed on the backend after you deleted it here."
        case (.insert, true): "The backend has a deleted item with this id."
        case (.insert, false): "The backend has another item with this id."
        case (.undelete, true): "The backend has deleted it again, or does not have it any more."
        case (.update, true), (.replace, true):
            "It was deleted on the backend while you changed it here."
        case (.update, false), (.replace, false), (.undelete, false):
            "It was changed on the backend and here."
        }
    }
}

/// base: the server's row that the change started from. mine: with the local change. server: as the
/// backend has it now. proposed: the merge that `merged` takes.
public struct ConflictDetail: Codable, Sendable, Hashable {
    /// The id of the operation.
    public var id: OperationID
    /// Whose it is: `anonymous`, or the key of a user.
    public var identity: String
    public var table: String
    public var itemID: String
    public var revision: Int
    public var kind: OperationKind
    public var title: String?
    /// Why it is a conflict, in plain words.
    public var reason: String?
    public var base: Columns?
    public var mine: Columns?
    public var server: Columns?
    public var mineDeleted: Bool
    public var serverDeleted: Bool
    public var fields: [ConflictField]
    public var proposed: Columns?
    public var since: Instant
    public var mineAt: Instant
    public var mineActor: Actor.Kind
    /// The name of the capability address that the client used; null for none.
    public var mineClient: String?
    /// The backend's `updatedAt` of its row, as it sent it; null when there is none.
    public var serverAt: String?
}

/// A column in which the two sides of a conflict differ.
public struct ConflictField: Codable, Sendable, Hashable {
    public var name: String
    /// Any JSON value; null also when the column is absent.
    public var base: JSONText?
    /// Any JSON value; null also when the column is absent.
    public var mine: JSONText?
    /// Any JSON value; null also when the column is absent.
    public var server: JSONText?
    /// Both sides changed it, to different values.
    public var overlaps: Bool
}

extension ConflictField {
    /// The columns in which three rows differ, in the order of mine, the server's, the base.
    static func all(base: Columns, mine: Columns, server: Columns) -> [ConflictField] {
        let overlaps = Set(ThreeWayMerge(base: base, mine: mine, theirs: server).overlaps)
        let differing = Set(
            mine.changedNames(from: base) + server.changedNames(from: base)
                + mine.changedNames(from: server))
        let (bases, mines) = (ColumnValues(base), ColumnValues(mine))
        let servers = ColumnValues(server)
        var seen: Set<String> = []
        return [mine, server, base].flatMap(\.names)
            .filter { differing.contains($0) && seen.insert($0).inserted }
            .map { name in
                ConflictField(
                    name: name, base: bases[name], mine: mines[name], server: servers[name],
                    overlaps: overlaps.contains(name))
            }
    }
}

/// The conflicts, each with its three versions.
struct ConflictList: InTransaction {
    let transaction: Transaction
    private var lists: OperationLists { OperationLists(transaction: transaction) }

    /// A conflict with its three rows; nil if the operation is not in conflict.
    func detail(_ operation: TableOperation) throws -> ConflictDetail? {
        guard operation.state == .conflict, let table = try tables.table(id: operation.tableID),
            let row = try items.row(table, exactly: operation.itemID)
        else { return nil }
        let server = ServerSide(shadowOf: row)
        let mine = try queue.mine(of: operation, row)
        let bothLive = server.isLive && mine != nil
        let (base, theirs) = (operation.baseRow ?? Columns(), server.columns ?? Columns())
        let merge = ThreeWayMerge(base: base, mine: mine ?? Columns(), theirs: theirs)
        return ConflictDetail(
            id: operation.id, identity: transaction.identity, table: operation.table.text,
            itemID: operation.itemID.text, revision: operation.revision, kind: operation.kind,
            title: operation.title, reason: operation.reason, base: operation.baseRow,
            mine: mine, server: server.columns, mineDeleted: mine == nil,
            serverDeleted: !server.isLive,
            fields: bothLive
                ? ConflictField.all(base: base, mine: mine ?? Columns(), server: theirs)
                : [],
            proposed: bothLive ? merge.proposed : nil,
            since: operation.lastAttemptAt ?? operation.createdAt,
            mineAt: operation.createdAt, mineActor: operation.actor.kind,
            mineClient: operation.actor.clientName, serverAt: server.updatedAt)
    }

    /// A page of the conflicts that match, oldest first. The filter's states do not count.
    func page(
        _ filter: OperationFilter, after: Int64, limit: Int
    ) throws -> Page<ConflictDetail> {
        var filter = filter
        filter.states = [.conflict]
        let page = try lists.page(filter, after: after, limit: limit)
        return Page(
            items: try page.items.compactMap(detail), next: page.next, total: page.total)
    }
}
