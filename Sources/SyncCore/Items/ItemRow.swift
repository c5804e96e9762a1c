import Storage
public import TablesProtocol

struct ItemRow {
    /// Nil until the row is first saved.
    var rowID: Int64?
    var tableID: Int64
    var id: ItemID
    /// The user's columns as clients see them.
    var columns: Columns
    var createdAt: Int64?
    /// The `updatedAt` that clients see, in ms.
    var stamp: Int64
    /// The store's own version, which clients hold.
    var version: String
    var deleted: Bool
    /// The backend's own texts, of the last row that is known of it.
    var serverVersion: String?
    var serverUpdatedAt: String?
    var serverCreatedAt: String?
    var serverDeleted: Bool
    /// After this store has deleted the row on the backend: the row's last `updatedAt` there, empty if it was
    /// not known. Nil once the backend has given the item again.
    var deletedAfter: String?
    /// An update that was merged into a delete, after the backend has applied the delete. The update itself
    /// was never sent. Nil if there was none.
    var unsent: UnsentChange?
    /// A client's last write, while its version is still good (``OwnWrite``).
    var ownWrite: OwnWrite?
    /// The backend's versions of the row that pushes have lately replaced.
    var replaced = ReplacedRows()
    /// The backend's columns while the item has local changes; nil when it has no row.
    var shadow: Columns?
    /// The change counter at the last outcome of a push; 0 before the first.
    var settledAt: Int64
    /// The `seq` of the item's first open operation.
    var pending: Int64?

    init(new id: ItemID, tableID: Int64) {
        self.id = id
        self.tableID = tableID
        columns = Columns()
        stamp = 0
        version = ""
        deleted = false
        serverDeleted = false
        settledAt = 0
    }

    static let select = "SELECT \(stored.names) FROM items"
    // Made once: they are looked up by their text each time.
    static let byID = "\(select) WHERE table_id = ? AND id = ?"
    /// Finds ids that differ in case alone: an id in small letters by itself, any other by an index.
    static let byIDInAnyCase = """
        \(select) WHERE rowid IN (
          SELECT rowid FROM items WHERE table_id = ?1 AND id = lower(?2)
          UNION ALL SELECT rowid FROM items
            WHERE table_id = ?1 AND id = ?2 COLLATE NOCASE AND id <> lower(id)) LIMIT 2
        """
    static let byAlias = """
        \(select) WHERE table_id = ?1 AND id =
          (SELECT id FROM aliases WHERE table_id = ?1 AND alias = ?2)
        """

    var item: Item {
        Item(
            id: id, columns: columns, createdAt: createdAt.map { Instant(milliseconds: $0) },
            updatedAt: Instant(milliseconds: stamp), version: version, deleted: deleted)
    }

    /// The columns that a client sees; nil for a deleted item.
    var visible: Columns? { deleted ? nil : columns }

    /// Whether the backend is known to have the item, or to have had it.
    var isOnBackend: Bool {
        serverVersion != nil || serverUpdatedAt != nil || serverDeleted || settledAt > 0
    }

    /// Whether this store has deleted the item on a backend that deletes hard.
    func isGone(from table: TableRecord) -> Bool {
        deleted && currentDeletedAfter != nil && table.deletion == .hard
    }

    /// Whether the item was removed here and may still be on the backend, beyond the part of its table.
    var mayHaveLeft: Bool { deleted && pending == nil && !serverDeleted && deletedAfter == nil }

    /// The backend's columns of a row without local changes; nil when it has none.
    var known: Columns? { deleted && !serverDeleted ? nil : columns }

    /// Whether the backend has given the item, deleted or not, and no delete of this store has removed it since.
    var isGiven: Bool { serverVersion != nil || serverUpdatedAt != nil || serverDeleted }

    /// ``deletedAfter`` while it holds: the backend has given nothing of the item since the delete.
    var currentDeletedAfter: String? {
        isGiven || !deleted && pending == nil ? nil : deletedAfter
    }

    /// ``unsent`` while it holds: the item is deleted and has no open operation.
    var currentUnsent: UnsentChange? { deleted && pending == nil ? unsent : nil }

    /// Becomes an item that the backend does not have. If it was deleted there, that stays known.
    mutating func forgetBackend() {
        if serverDeleted { deletedAfter = serverUpdatedAt ?? "" }
        (pending, shadow, serverVersion, serverUpdatedAt) = (nil, nil, nil, nil)
        serverCreatedAt = nil
        (serverDeleted, settledAt, replaced) = (false, 0, ReplacedRows())
    }

    /// Takes the backend's own properties of its row. `createdAt` stays where the answer had none.
    mutating func takeServerProperties(_ server: ServerSide) {
        serverVersion = server.version
        serverUpdatedAt = server.updatedAt
        serverCreatedAt = server.createdAtText ?? serverCreatedAt
        serverDeleted = server.isDeleted
    }

    /// Becomes what was last known of the backend: the item has no open operation any more.
    mutating func takeShadow() {
        pending = nil
        columns = shadow ?? columns
        deleted = shadow == nil || serverDeleted
        shadow = nil
    }
}

extension ItemRow: Stored {
    static let stored = StoredColumns<ItemRow>(
        "items", blank: ItemRow(new: ItemID(0), tableID: 0),
        [
            .init("rowid", \.rowID, .assigned), .init("table_id", \.tableID, .fixed),
            .init("id", .fixed, get: \.id.text) { $0.id = ItemID(stored: $1, kind: .string) },
            .init("columns", \.columns), .init("created_at", \.createdAt),
            .init("stamp", \.stamp), .init("version", \.version), .init("deleted", \.deleted),
            .init("server_version", \.serverVersion),
            .init("server_updated_at", \.serverUpdatedAt),
            .init("server_deleted", \.serverDeleted), .init("shadow_columns", \.shadow),
            .init("settled_at", \.settledAt), .init("pending", \.pending),
            .init("server_created_at", \.serverCreatedAt),
            .init("deleted_after", get: \.currentDeletedAfter) { $0.deletedAfter = $1 },
            .init("unsent_change", get: \.currentUnsent) { $0.unsent = $1 },
            .init("own_write", \.ownWrite),
            .init("replaced_rows", get: \.replaced.text) { row, text in
                row.replaced = text.map { ReplacedRows(stored: $0) } ?? ReplacedRows()
            },
        ])

    /// Reads a row of ``select``.
    init?(_ row: StatementRow, idKind: IDKind) {
        guard let read = Self.stored.read(row) else { return nil }
        self = read
        id = ItemID(stored: id.text, kind: idKind)
    }
}

/// The change of an update that was merged into a delete. A delete does not send it. An undelete sends it,
/// because the client was told that the item has these values.
struct UnsentChange: Sendable, Hashable {
    /// The columns before the change.
    var base: Columns
    /// The same columns with their new values.
    var columns: Columns

    /// The change that was merged into a delete; nil if none was.
    init?(mergedInto delete: TableOperation) {
        columns = delete.changes
        guard delete.kind == .delete, !columns.isEmpty else { return nil }
        base = (delete.baseRow ?? Columns()).picking(columns.names)
    }

    /// Reads ``text``; nil if the store is damaged.
    init?(stored text: String) {
        guard let parts = try? Columns(parsing: text), let base = parts["base"],
            let columns = parts["columns"]
        else { return nil }
        (self.base, self.columns) = (Columns(stored: base.text), Columns(stored: columns.text))
    }

    /// A JSON object of both.
    var text: String { #"{"base":\#(base.text),"columns":\#(columns.text)}"# }
}

/// The columns of an item as a client sees it, in the order in which a list selects them. A list is long, so its rows
/// are read without a ``StoredColumns`` between.
private enum ItemColumn: Int, CaseIterable {
    case id, columns, createdAt, stamp, version, deleted

    var name: String { self == .createdAt ? "created_at" : "\(self)" }
}

extension StatementRow {
    static let itemColumns = ItemColumn.allCases.map(\.name).joined(separator: ", ")
    static let itemColumnCount = ItemColumn.allCases.count

    /// The item in ``itemColumns``.
    func item(_ idKind: IDKind) -> Item {
        func column<Value: StatementValue>(_ column: ItemColumn) -> Value { self[column.rawValue] }
        return Item(
            id: ItemID(stored: column(.id), kind: idKind),
            columns: Columns(stored: column(.columns)),
            createdAt: self[ItemColumn.createdAt.rawValue],
            updatedAt: column(.stamp), version: column(.version), deleted: column(.deleted))
    }
}

/// A short text that identifies an item to a person.
enum ItemTitle {
    private static let preferred = ["text", "title", "name", "subject", "description", "label"]

    /// The text of the column that most likely names the item, at most ``StoreLimits/titleCharacters``
    /// characters; nil if no column is text.
    static func of(_ columns: Columns) -> String? {
        let texts = columns.all.compactMap { column in
            column.value.string.map { (column.name.lowercased(), $0) }
        }
        let named = preferred.lazy.compactMap { name in
            texts.first { $0.0 == name && !$0.1.isEmpty }
        }.first
        guard let text = (named ?? texts.first { !$0.1.isEmpty })?.1 else { return nil }
        return String(text.prefix(StoreLimits.titleCharacters))
    }
}

/// A row of the backend as this store last heard of it.
public struct ServerRow: Codable, Sendable, Hashable {
    public var id: String
    /// As the backend wrote it.
    public var createdAt: String?
    /// As the backend wrote it.
    public var updatedAt: String?
    /// As the backend wrote it.
    public var version: String?
    public var deleted: Bool
    /// Whether this store has deleted it, and the backend has given nothing of it since. Then `updatedAt`
    /// and the columns are those of the row before the deletion; `updatedAt` is null where the delete
    /// named no version, so that the backend may have had a newer row.
    public var deletedSince: Bool
    /// The columns of the user.
    public var columns: Columns
}

/// The backend's rows of a table as they are known here, without what clients have changed since.
///
/// A row with open operations is the one beside them. A row that this store has deleted there is one of them,
/// as long as its tombstone is kept. A row that the backend never had, or that it has not given any more for
/// another reason, is none: it may have left a query only.
struct ServerRows {
    let transaction: Transaction

    private static let condition = """
        table_id = ? AND (deleted_after IS NOT NULL
          OR pending IS NULL AND (deleted = 0 OR server_deleted = 1)
          OR pending IS NOT NULL AND shadow_columns IS NOT NULL)
        """

    /// The rows after an id, in the order of the ids' bytes.
    func page(of table: TableRecord, after id: String, limit: Int) throws -> [ServerRow] {
        try transaction.all(
            "\(ItemRow.select) WHERE \(Self.condition) AND id > ? ORDER BY id LIMIT ?",
            [table.id, id, limit]
        ) { ItemRow($0, idKind: table.idKind).map(Self.row) }
    }

    func count(of table: TableRecord) throws -> Int {
        Int(
            try transaction.integer(
                "SELECT count(*) FROM items WHERE \(Self.condition)", [table.id]) ?? 0)
    }

    private static func row(_ row: ItemRow) -> ServerRow {
        let isDeletedSince = row.deletedAfter != nil
        let before = row.deletedAfter.flatMap { $0.isEmpty ? nil : $0 }
        return ServerRow(
            id: row.id.text, createdAt: row.serverCreatedAt,
            updatedAt: isDeletedSince ? before : row.serverUpdatedAt,
            version: row.serverVersion, deleted: isDeletedSince || row.serverDeleted,
            deletedSince: isDeletedSince,
            columns: (row.pending == nil ? row.columns : row.shadow) ?? Columns())
    }
}

extension StoreLists {
    /// A page of the backend's rows of a table as they are known here, in the order of the ids' bytes; nil
    /// when there is no such table.
    /// - Parameters:
    ///   - after: the id before the first one; nil for the beginning.
    ///   - limit: the most rows of the page, bounded by ``StoreLimits/operatorPage``.
    ///   - total: what an earlier page said; nil counts the rows, which reads all of them.
    public func serverRows(
        of name: TableName, after: String?, limit: Int, total: Int? = nil
    ) async throws(StoreError) -> Page<ServerRow>? {
        try await reading.search { transaction in
            guard let table = try transaction.tables.table(name) else { return nil }
            let limit = min(max(limit, 1), StoreLimits.operatorPage)
            let rows = ServerRows(transaction: transaction)
            let page = try rows.page(of: table, after: after ?? "", limit: limit)
            return Page(
                items: page, next: page.count == limit ? page.last?.id : nil,
                total: try total ?? rows.count(of: table))
        }
    }
}

/// The backend's row of an item, as far as the store knows it. ``RemoteRow`` is a row as it came in an answer.
struct ServerSide: Sendable, Hashable {
    /// The user's columns; nil if the backend has no row.
    var columns: Columns?
    /// Whether the backend keeps the row marked as deleted.
    var isDeleted = false
    /// The backend's own text.
    var version: String?
    var updatedAt: String?
    var createdAt: Instant? { createdAtText.flatMap { Instant(parsing: $0) } }
    /// The backend's own text; nil where it was not in the answer.
    var createdAtText: String?

    /// Whether the backend has the row, and it is not deleted.
    var isLive: Bool { columns != nil && !isDeleted }

    /// The backend has no row.
    static let none = ServerSide()

    init() {}

    /// A row of which only the columns are known.
    init(columns: Columns?) { self.columns = columns }

    /// Reads a row of the backend; nil means that the backend has none.
    init(_ remote: RemoteRow?, columns: Columns?) {
        guard let remote else { return }
        self.columns = columns ?? remote.columns
        isDeleted = remote.isDeleted
        version = remote.version
        updatedAt = remote.updatedAt
        createdAtText = remote.createdAt
    }

    /// Reads the backend's row that is stored beside local changes.
    init(shadowOf row: ItemRow) {
        columns = row.shadow
        isDeleted = row.serverDeleted
        version = row.serverVersion
        updatedAt = row.serverUpdatedAt
    }

    /// Reads the backend's row of an item that may have local changes or none.
    init(knownOf row: ItemRow) {
        self.init(shadowOf: row)
        columns = row.known
    }
}
