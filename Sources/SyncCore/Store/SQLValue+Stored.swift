package import Storage
package import TablesProtocol

// What compiled queries hand to SQLite and get from it.

extension SQLValue: StatementValue {
    package var stored: StoredValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .blob(bytes)
        }
    }

    package init(_ row: StatementRow, _ column: Int) { self.init(row.value(column)) }

    init(_ value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            }
    }
}

extension ScalarFunction {
    /// The functions that compiled queries call, for each connection that runs them.
    static let ofQueries = SQLFunction.all.map { function in
        ScalarFunction(function.name, argumentCount: function.argumentCount) { values in
            let call = function.call(values.map(SQLValue.init))
            return Call(call.value.stored, steps: call.steps)
        }
    }
}
