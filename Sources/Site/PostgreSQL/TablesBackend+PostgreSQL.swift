public import Backend
import PostgreSQL
public import TablesProtocol

extension TablesBackend {
    /// Opens the backend on PostgreSQL.
    ///
    /// - Parameter database: `postgresql://…` as libpq reads it, with one host or several.
    /// - Throws: an error whose description is a sentence: the URL cannot be read, or a newer program made the
    ///   database ready. ``DatabaseAway`` where no server takes writes now.
    public convenience init(
        database: String, options: BackendOptions = BackendOptions(),
        clock: @escaping @Sendable () -> Instant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        do {
            try self.init(
                on: PostgreSQLRowStorage(at: database, startedAt: clock()), options: options,
                clock: clock, random: random)
        } catch let error as PostgreSQLError where error.isLostConnection {
            throw DatabaseAway(description: error.description)
        } catch let error as StorageUnavailable {
            throw DatabaseAway(description: error.description)
        }
    }

    /// The version of the libpq that is loaded, such as `15.8`.
    public static var postgreSQLLibraryVersion: String { PostgreSQLConnection.libraryVersion }
}

/// No server of the database takes writes, as during a failover: the same start may succeed later.
public struct DatabaseAway: Error, CustomStringConvertible {
    /// Why, in a sentence.
    public let description: String
}
