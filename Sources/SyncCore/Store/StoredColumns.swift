import HTTPTypes
package import Storage
import TablesProtocol

/// A type whose values are rows of a table.
protocol Stored: Sendable {
    static var stored: StoredColumns<Self> { get }
}

extension Stored {
    /// Reads a row that was selected with the type's ``StoredColumns/names``; nil where a column holds what its
    /// property has no value for.
    init?(_ row: StatementRow) {
        guard let value = Self.stored.read(row) else { return nil }
        self = value
    }
}

extension StatementRunner {
    func insert<Value: Stored>(_ value: Value) throws {
        try run(Value.stored.insert, Value.stored.inserted(value))
    }

    /// Writes every column that may change, in the row with the value's key.
    func update<Value: Stored>(_ value: Value) throws {
        try run(Value.stored.update, Value.stored.updated(value))
    }
}

/// The columns of a stored type, each declared once, with its name and its property.
///
/// The texts of statements are made of it once, so that the statements stay prepared. A row has its columns in the
/// order of the declaration, so no name is looked up when a row is read.
struct StoredColumns<Value: Sendable>: Sendable {
    /// The value that a row is read into: each column sets its property.
    let blank: Value
    private let table: String
    private let columns: [StoredColumn<Value>]
    private let insertedColumns: [StoredColumn<Value>]
    private let updatedColumns: [StoredColumn<Value>]

    /// The columns as a SELECT names them.
    let names: String
    /// Inserts a row, with the values of ``inserted(_:)``.
    let insert: String
    /// Updates a row, with the values of ``updated(_:)``.
    let update: String
    /// Sets the columns that may change to those of the row that could not be inserted.
    let excluded: String

    init(_ table: String, blank: Value, _ columns: [StoredColumn<Value>]) {
        (self.table, self.blank, self.columns) = (table, blank, columns)
        let insertedColumns = columns.filter(\.role.isInserted)
        let changing = columns.filter { $0.role == .changing }
        let keys = columns.filter(\.role.isKey)
        self.insertedColumns = insertedColumns
        updatedColumns = changing + keys
        func list(_ columns: [StoredColumn<Value>], _ text: (String) -> String) -> String {
            columns.map { text($0.name) }.joined(separator: ", ")
        }
        names = columns.map { $0.role == .joined ? $0.name : "\(table).\($0.name)" }
            .joined(separator: ", ")
        insert = """
            INSERT INTO \(table)(\(list(insertedColumns) { $0 })) \
            VALUES (\(list(insertedColumns) { _ in "?" }))
            """
        update = """
            UPDATE \(table) SET \(list(changing) { "\($0) = ?" }) \
            WHERE \(keys.map { "\($0.name) = ?" }.joined(separator: " AND "))
            """
        excluded = list(changing) { "\($0) = excluded.\($0)" }
    }

    /// Inserts a row in the place of the one with its key.
    var replace: String { "INSERT OR REPLACE" + insert.dropFirst("INSERT".count) }

    /// Makes a table of a file that keeps nothing of its own: values of any type, found by their key.
    var creation: String {
        let all = columns.map(\.name).joined(separator: ", ")
        let keys = columns.filter(\.role.isKey).map(\.name).joined(separator: ", ")
        return "CREATE TABLE \(table) (\(all), PRIMARY KEY (\(keys))) WITHOUT ROWID"
    }

    /// Inserts as many rows at once.
    func insert(rows: Int) -> String {
        let places = repeatElement("?", count: insertedColumns.count).joined(separator: ", ")
        return insert + String(repeating: ", (\(places))", count: rows - 1)
    }

    func inserted(_ value: Value) -> StatementValues { insertedColumns.map { $0.get(value) } }

    func updated(_ value: Value) -> StatementValues { updatedColumns.map { $0.get(value) } }

    /// Reads a row of ``names``; nil where a column holds what its property has no value for.
    func read(_ row: StatementRow) -> Value? {
        var value = blank
        for place in columns.indices where !columns[place].set(&value, row, place) { return nil }
        return value
    }

    /// The columns of a type that holds this one, in another table, where a row never changes.
    func copied<Owner>(
        as path: any WritableKeyPath<Owner, Value> & Sendable
    ) -> [StoredColumn<Owner>] {
        columns.map { column in
            StoredColumn(
                column.name, role: column.role == .joined ? .joined : .fixed,
                get: { column.get($0[keyPath: path]) },
                set: { column.set(&$0[keyPath: path], $1, $2) })
        }
    }

    /// With columns of other tables, for a SELECT alone.
    func joined(_ others: [StoredColumn<Value>]) -> StoredColumns {
        StoredColumns(table, blank: blank, columns + others)
    }
}

/// One column of a stored type.
struct StoredColumn<Value: Sendable>: Sendable {
    enum Role: Sendable {
        /// SQLite gives the number of a new row; an update finds the row by it.
        case assigned
        /// Written with a new row; an update finds the row by it.
        case key
        /// Written with a new row alone.
        case fixed
        case changing
        /// Of another table, so it is only read.
        case joined

        var isInserted: Bool { self == .key || self == .fixed || self == .changing }
        var isKey: Bool { self == .assigned || self == .key }
    }
    let name: String
    let role: Role
    let get: @Sendable (Value) -> (any StatementValue)?
    /// Sets the property to what stands in a place of a row; false where that is no value for it.
    let set: @Sendable (inout Value, StatementRow, Int) -> Bool

    init(
        _ name: String, role: Role, get: @escaping @Sendable (Value) -> (any StatementValue)?,
        set: @escaping @Sendable (inout Value, StatementRow, Int) -> Bool
    ) {
        (self.name, self.role, self.get, self.set) = (name, role, get, set)
    }

    /// A column with a property.
    /// - Parameter unreadable: the value in place of one that the column has and the property cannot have; nil
    ///   makes the row unreadable.
    init<Property: ColumnValue>(
        _ name: String, _ path: any WritableKeyPath<Value, Property> & Sendable,
        _ role: Role = .changing,
        unreadable: Property? = nil
    ) {
        self.init(
            name, role: role, get: { $0[keyPath: path].inColumn },
            set: { value, row, place in
                guard let read = Property(in: row, place) ?? unreadable else { return false }
                value[keyPath: path] = read
                return true
            })
    }

    /// A column that is computed from the value.
    init<Column: ColumnValue>(
        _ name: String, _ role: Role = .changing, get: @escaping @Sendable (Value) -> Column,
        set: @escaping @Sendable (inout Value, Column) -> Void
    ) {
        self.init(
            name, role: role, get: { get($0).inColumn },
            set: { value, row, place in
                guard let read = Column(in: row, place) else { return false }
                set(&value, read)
                return true
            })
    }
}

/// What a column of a stored type holds.
protocol ColumnValue: Sendable {
    var inColumn: (any StatementValue)? { get }
    /// Nil where the type has no value for what the column holds.
    init?(in row: StatementRow, _ place: Int)
}

extension ColumnValue where Self: StatementValue {
    var inColumn: (any StatementValue)? { self }
    init?(in row: StatementRow, _ place: Int) { self.init(row, place) }
}

extension ColumnValue where Self: RawRepresentable, RawValue: StatementValue {
    var inColumn: (any StatementValue)? { rawValue }
    init?(in row: StatementRow, _ place: Int) { self.init(rawValue: RawValue(row, place)) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    var inColumn: (any StatementValue)? { flatMap(\.inColumn) }
    init?(in row: StatementRow, _ place: Int) {
        self = row.isNull(place) ? nil : Wrapped(in: row, place)
    }
}

extension String: ColumnValue {}
extension Int64: ColumnValue {}
extension Int: ColumnValue {}
extension Bool: ColumnValue {}
extension OperationKind: ColumnValue {}
extension OperationState: ColumnValue {}
extension Generation: ColumnValue {}
extension IDKind: ColumnValue {}
extension Actor: ColumnValue {}
extension HistoryKind: ColumnValue {}

/// In milliseconds since 1970.
extension Instant: StatementValue, ColumnValue {
    package var stored: StoredValue { .integer(milliseconds) }
    package init(_ row: StatementRow, _ column: Int) {
        self.init(milliseconds: row.integer(column))
    }
}

/// What is kept as text.
protocol TextValue: ColumnValue {
    var text: String { get }
    init?(stored text: String)
}

extension TextValue {
    var inColumn: (any StatementValue)? { text }
    init?(in row: StatementRow, _ place: Int) { self.init(stored: row.text(place)) }
}

extension Columns: TextValue {}
extension UnsentChange: TextValue {}
extension OwnWrite: TextValue {}

extension TableName: TextValue {
    /// Stands in a value before its row is read.
    static let blank: TableName = {
        guard let name = TableName("_") else { preconditionFailure("No table is named `_`.") }
        return name
    }()

    init?(stored text: String) { self.init(text) }
}

extension JSONText: TextValue {
    init?(stored text: String) { try? self.init(validating: text) }
}

/// A JSON array of strings.
extension [String]: ColumnValue {
    var inColumn: (any StatementValue)? { JSONList.text(self) }
    init?(in row: StatementRow, _ place: Int) { self = JSONList.names(row.text(place)) }
}
