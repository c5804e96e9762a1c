import Foundation
import GRDB

/// A deterministic function that statements may call.
package struct ScalarFunction: Sendable {
    let name: String
    let argumentCount: Int
    let body: @Sendable ([StoredValue]) -> Call

    /// The value of a call, and its cost in steps.
    package struct Call: Sendable {
        let value: StoredValue
        let steps: Int

        /// - Parameter steps: the work, in steps of SQLite's machine, which does not see it.
        package init(_ value: StoredValue, steps: Int = 0) {
            self.value = value
            self.steps = steps
        }
    }

    /// - Parameter body: gets `argumentCount` values.
    package init(
        _ name: String, argumentCount: Int, body: @escaping @Sendable ([StoredValue]) -> Call
    ) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }

    /// The function as GRDB registers it.
    /// - Parameter budget: what its work counts in; a call that goes over it ends the statement as the
    ///   budget itself does. Nil for work that nothing bounds.
    func registered(spending budget: StatementBudget?) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: argumentCount, pure: true) { values in
            let call = body(values.map(StoredValue.init))
            guard budget?.spend(steps: call.steps) ?? true else {
                throw DatabaseError(resultCode: .SQLITE_INTERRUPT)
            }
            return call.value.databaseValue
        }
    }
}

extension StoredValue {
    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Array(data))
        }
    }

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
