import GRDB
import TablesProtocol

extension SQLFunction {
    /// The function as GRDB registers it.
    var registered: DatabaseFunction {
        DatabaseFunction(name, argumentCount: argumentCount, pure: true) { arguments in
            call(arguments.map(SQLValue.init)).value.bound
        }
    }
}

extension SQLValue {
    /// The value of a database value.
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let value): .integer(value)
            case .double(let value): .real(value)
            case .string(let value): .text(value)
            case .blob(let value): .blob(Array(value))
            }
    }
}
