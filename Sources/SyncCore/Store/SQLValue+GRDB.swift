import Foundation
import GRDB
import TablesProtocol

extension DatabaseFunction {
    /// A function of compiled queries.
    /// - Parameter budget: what its work counts in; a call that goes over it ends the statement as the
    ///   budget itself does. Nil for work that nothing bounds.
    convenience init(_ function: SQLFunction, spending budget: StatementBudget?) {
        self.init(function.name, argumentCount: function.argumentCount, pure: true) { values in
            let call = function.call(values.map(SQLValue.init))
            guard budget?.spend(steps: call.steps) ?? true else {
                throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
            }
            return call.value.databaseValue
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
