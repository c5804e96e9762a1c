import Foundation
import GRDB
import TablesProtocol

extension DatabaseFunction {
    /// A function of compiled queries.
    convenience init(_ function: SQLFunction) {
        let body = function.body
        self.init(function.name, argumentCount: function.argumentCount, pure: true) { values in
            body(values.map(SQLValue.init)).databaseValue
        }
    }
}

extension SQLValue {
    /// A value as SQLite gives it.
    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Array(data))
        }
    }

    /// The value as SQLite takes it.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
