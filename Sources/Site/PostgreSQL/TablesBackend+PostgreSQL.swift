public import Backend
import PostgreSQL
public import TablesProtocol

extension TablesBackend {
    /// Opens the backend on PostgreSQL.
    ///
    /// - Parameter database: `postgresql://…` as libpq reads it, with one host or several.
    /// - Throws: an error whose description is a sentence: the URL cannot be read, no server answers, or a
    ///   newer program made the database ready.
    public convenience init(
        database: String, options: BackendOptions = BackendOptions(),
        clock: @escaping @Sendable () -> Instant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        try self.init(
            on: PostgreSQLRowStorage(at: database, startedAt: clock()), options: options,
            clock: clock, random: random)
    }

    /// The version of the libpq that is loaded, such as `15.8`.
    public static var postgreSQLLibraryVersion: String { PostgreSQLConnection.libraryVersion }
}
