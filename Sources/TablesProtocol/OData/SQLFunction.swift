/// A deterministic SQL function that compiled queries call.
///
/// Each connection that runs compiled queries registers ``all`` first. A text that holds U+0000 is
/// passed and returned as a blob of its UTF-8 bytes.
public struct SQLFunction: Sendable {
    /// The name in SQL.
    public let name: String
    /// How many arguments it takes.
    public let argumentCount: Int
    /// What it does; pure, and null for arguments it has no answer to.
    public let body: @Sendable ([SQLValue]) -> SQLValue

    init(
        _ name: String, _ argumentCount: Int, body: @escaping @Sendable ([SQLValue]) -> SQLValue
    ) {
        self.name = "odata_\(name)"
        self.argumentCount = argumentCount
        self.body = { arguments in
            arguments.count == argumentCount ? body(arguments) : .null
        }
    }

    /// Every function that ``SQLCompiler`` writes and SQLite does not have.
    public static let all: [SQLFunction] = texts + numbers + moments + casts + places
}
