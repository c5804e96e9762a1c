import Foundation
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// A storage that every test of the seam runs on. A new one gets a line in ``all``.
struct StorageUnderTest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Opens an empty one.
    let open: @Sendable () throws -> any RowStorage

    /// The path of a file that is not there yet.
    static func newFile() -> String {
        "\(FileManager.default.temporaryDirectory.path)/understudy-rows-\(UUID()).sqlite"
    }

    static let all = [
        StorageUnderTest(testDescription: "SQLite in memory") { try SQLiteRowStorage() },
        StorageUnderTest(testDescription: "SQLite in a file") {
            try SQLiteRowStorage(at: StorageUnderTest.newFile())
        },
        StorageUnderTest(testDescription: "PostgreSQL") {
            try PostgreSQLRowStorage(
                at: PostgreSQLServer.url(), schema: PostgreSQLServer.newSchema())
        },
    ]
}
