/// A deterministic SQL function that compiled queries call.
///
/// Each connection that runs compiled queries registers ``all`` first. A text that holds U+0000 is
/// passed and returned as a blob of its UTF-8 bytes.
public struct SQLFunction: Sendable {
    /// What a call gives and what it costs.
    public struct Call: Sendable, Hashable {
        /// The function's value.
        public let value: SQLValue
        /// The work, in steps of SQLite's machine, which does not see it.
        public let steps: Int
    }

    /// The name in SQL.
    public let name: String
    /// How many arguments it takes.
    public let argumentCount: Int
    private let body: @Sendable ([SQLValue]) -> Call

    /// A function whose work is to read its arguments and to write its value.
    init(
        _ name: String, _ argumentCount: Int, body: @escaping @Sendable ([SQLValue]) -> SQLValue
    ) {
        self.init(name, argumentCount) { arguments, _ in body(arguments) }
    }

    /// A function that does more than to read its arguments once.
    /// - Parameter body: adds to its second parameter the steps that it takes beside that.
    init(
        _ name: String, _ argumentCount: Int,
        working body: @escaping @Sendable ([SQLValue], inout Int) -> SQLValue
    ) {
        self.name = "odata_\(name)"
        self.argumentCount = argumentCount
        self.body = { arguments in
            guard arguments.count == argumentCount else { return Call(value: .null, steps: 0) }
            var steps = Limits.functionSteps
            let value = body(arguments, &steps)
            let bytes = arguments.reduce(value.byteCount) { $0 + $1.byteCount }
            return Call(value: value, steps: steps + bytes / Limits.functionBytesPerStep)
        }
    }

    /// Calls the function.
    /// - Parameter arguments: ``argumentCount`` of them.
    /// - Returns: null for arguments that it has no answer to.
    public func call(_ arguments: [SQLValue]) -> Call { body(arguments) }

    /// Every function that ``SQLCompiler`` writes and SQLite does not have.
    public static let all: [SQLFunction] = texts + numbers + moments + casts + places
}
