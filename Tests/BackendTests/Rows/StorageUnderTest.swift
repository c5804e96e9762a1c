import Foundation
import TestSupport
import Testing

@testable import Backend

/// A storage that every test of the seam runs on. A new one gets a line in ``all``.
struct StorageUnderTest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Opens an empty one.
    let open: @Sendable () throws -> any RowStorage

    static let all = [
        StorageUnderTest(testDescription: "SQLite in memory") { try SQLiteRowStorage() },
        StorageUnderTest(testDescription: "SQLite in a file") {
            let folder = FileManager.default.temporaryDirectory.path
            return try SQLiteRowStorage(at: "\(folder)/understudy-rows-\(UUID()).sqlite")
        },
        StorageUnderTest(testDescription: "PostgreSQL") {
            try PostgreSQLRowStorage(
                at: PostgreSQLServer.url(), schema: PostgreSQLServer.newSchema())
        },
    ]
}
