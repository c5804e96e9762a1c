public import Backend
import Foundation
import Site
public import TablesProtocol

extension TablesBackend {
    /// Whether this run of the tests has its backends on PostgreSQL (`scripts/check unit`).
    private static let usesPostgreSQL =
        ProcessInfo.processInfo.environment["BACKEND_TESTS"] == "postgresql"

    /// A new backend in memory, or in a schema of its own where `BACKEND_TESTS=postgresql`.
    public static func underTest(
        _ options: BackendOptions = BackendOptions(), clock: @escaping @Sendable () -> Instant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws -> TablesBackend {
        guard usesPostgreSQL else {
            return try TablesBackend(options: options, clock: clock, random: random)
        }
        let storage = try PostgreSQLRowStorage(
            at: PostgreSQLServer.url(), schema: PostgreSQLServer.newSchema(), countsRows: true)
        return try TablesBackend(on: storage, options: options, clock: clock, random: random)
    }
}
