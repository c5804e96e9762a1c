public import TablesProtocol

/// What decides a conflict: both sides changed the row, and not only in different columns. Changes of
/// different columns are merged under every policy, unless an earlier request may have taken effect.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
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

/// A conflict with everything that a person needs to decide it.
public struct ConflictDetail: Sendable, Hashable {
    /// One column of the conflict.
    public struct Field: Sendable, Hashable {
        public var name: String
        /// The value that the local change started from; nil if there was no such column.
        public var base: JSONText?
        /// The local value; nil if the local row has no such column.
        public var mine: JSONText?
        /// The backend's value; nil if the backend's row has no such column.
        public var server: JSONText?
        /// Whether both sides changed the column, to different values.
        public var overlaps: Bool
    }

    public var id: OperationID
    /// The identity that the operation belongs to.
    public var identity: String
    /// The table as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// The operation's revision, which a resolution must name.
    public var revision: Int
    public var kind: OperationKind
    /// A short text of the item for a person.
    public var title: String?
    /// Why this is a conflict, in plain words.
    public var reason: String?
    /// The user's columns that the change started from.
    public var base: JSONText?
    /// The columns as the local change leaves them; nil if it deletes the row.
    public var mine: JSONText?
    /// The backend's columns; nil if the backend has no row.
    public var server: JSONText?
    public var serverDeleted: Bool
    public var mineDeleted: Bool
    /// The columns in which the rows differ.
    public var fields: [Field]
    /// The proposed merge: my value in each column that only I changed, the backend's value in every other
    /// column. Nil if either side is deleted.
    public var proposed: JSONText?
    /// When its last request began; without a request, when it was accepted.
    public var since: Instant
    /// When the local change was made. Where it consists of several writes: when the first was accepted.
    public var mineAt: Instant
    /// Who made it, or the first of its writes.
    public var mineActor: Actor
    /// The backend's `updatedAt` of its row, as it sent it; nil when it has no row, or none on it.
    public var serverAt: String?
}

extension ConflictDetail.Field {
    /// The columns in which three rows differ, in the order of mine, the server's, the base.
    static func all(base: Columns, mine: Columns, server: Columns) -> [ConflictDetail.Field] {
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
                ConflictDetail.Field(
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
            title: operation.title, reason: operation.reason, base: operation.baseRow?.json,
            mine: mine?.json, server: server.columns?.json,
            serverDeleted: !server.isLive, mineDeleted: mine == nil,
            fields: bothLive
                ? ConflictDetail.Field.all(base: base, mine: mine ?? Columns(), server: theirs)
                : [],
            proposed: bothLive ? merge.proposed.json : nil,
            since: operation.lastAttemptAt ?? operation.createdAt,
            mineAt: operation.createdAt, mineActor: operation.actor, serverAt: server.updatedAt)
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
