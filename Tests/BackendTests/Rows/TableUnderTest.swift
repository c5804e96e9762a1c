import TablesProtocol
import Testing

@testable import Backend

/// One table of a new storage, and the calls that the tests make on it.
struct TableUnderTest: Sendable {
    let storage: any RowStorage
    let name: TableName
    let options: TableOptions

    /// - Parameter text: the table's name.
    init(
        _ kind: StorageUnderTest, _ text: String = "Things", _ options: TableOptions = .init()
    ) throws {
        storage = try kind.open()
        name = try #require(TableName(text))
        self.options = options
        try storage.declare(name, options)
    }

    /// A moment of the tests' clock.
    static func moment(_ milliseconds: Int64) -> Instant {
        Instant(milliseconds: 1_800_000_000_000 + milliseconds)
    }

    /// A write at a moment.
    func write(
        at milliseconds: Int64 = 0, _ stamps: BackendOptions.Stamps = .increasing,
        adding columns: [TableOptions.Column] = [], key: String? = nil, isKept: Bool = true
    ) -> Write {
        Write(
            at: Self.moment(milliseconds), stamps: stamps, newColumns: columns, method: "POST",
            idempotencyKey: key, isKept: isKept)
    }

    /// Inserts what must not be there yet.
    @discardableResult
    func insert(_ id: String?, _ json: String = "{}", _ write: Write? = nil) throws -> Row {
        let row = NewRow(id: id, columns: try Columns(parsing: json))
        guard
            case .inserted(let inserted) = try storage.insert(
                row, into: name, creating: options, write ?? self.write())
        else { throw Unexpected() }
        return inserted
    }

    /// Gives a row other columns, as an update.
    @discardableResult
    func update(_ row: Row, _ json: String, _ write: Write? = nil) throws -> Row? {
        let change = RowChange(old: row, columns: try Columns(parsing: json), deleted: row.deleted)
        return try storage.change([change], in: name, as: .update, write ?? self.write())?.first
    }

    /// Marks rows as deleted, or as not.
    func mark(_ rows: [Row], deleted: Bool, as kind: EffectKind) throws -> [Row]? {
        let changes = rows.map { RowChange(old: $0, columns: $0.columns, deleted: deleted) }
        return try storage.change(changes, in: name, as: kind, write())
    }

    /// The query of a list.
    func query(_ filter: String? = nil, by order: String? = nil) throws -> RowQuery {
        var query = RowQuery(table: name)
        query.filter = try filter.map {
            RowFilter(condition: try Expression(parsing: $0, generation: .mobileApps))
        }
        query.orderBy = try order.map { try Ordering.parse($0, generation: .mobileApps) } ?? []
        return query
    }

    /// The ids of a list.
    func ids(_ filter: String? = nil, by order: String? = nil) throws -> [String] {
        try storage.list(query(filter, by: order)).rows.map(\.id)
    }
}
