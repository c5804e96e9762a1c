import GRDB
import TestSupport
import Testing

@testable import Storage

/// A copy of the files, taken when a commit has returned, is the committed database: as after the end of
/// the process.
@Suite struct LogFileTests {
    private let file: NumbersFile
    init() throws { file = try NumbersFile() }

    private struct Planned: Error {}

    /// Uses a small page cache, so that large transactions are written in pieces before their end.
    private func keepFewPages() throws {
        try file.writer.read { try $0.run("PRAGMA cache_size = 20") }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `what is committed is in the files when the commit returns`(seed: UInt64) async throws {
        try keepFewPages()
        var random = SeededRandom(seed)
        var expected: [Int: Int] = [:]
        for round in 0..<60 {
            let steps = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                Step(
                    number: Int.random(in: 0..<40, using: &random),
                    bytes: Int.random(in: 0..<90_000, using: &random),
                    isUndone: Int.random(in: 0..<4, using: &random) == 0)
            }
            let fails = Int.random(in: 0..<5, using: &random) == 0
            let result = await file.writer.write { unit in
                for step in steps { try step.run(in: unit) }
                if fails { throw Planned() }
            }
            switch result {
            case .success:
                for step in steps where !step.isUndone { expected[step.number] = step.bytes }
            case .failure(let error): #expect(fails, "round \(round) of seed \(seed): \(error)")
            }
            if round % 17 == 16 {
                // The next transaction starts the log again.
                _ = try await file.writer.connection.queue.writeWithoutTransaction {
                    try $0.checkpoint(.passive)
                }
            }
            let found = try file.copied()
            #expect(found == expected, "round \(round) of seed \(seed)")
        }
    }

    @Test func `a savepoint that changes more than the page cache can be rolled back`() async throws
    {
        try await file.writer.write { unit in
            for number in 0..<200 { try unit.put(number, bytes: 3_000) }
        }.get()
        try await file.writer.write { unit in
            try unit.db.savepoint {
                try unit.db.run("UPDATE numbers SET filling = zeroblob(10)")
                return false
            }
            try unit.put(1, bytes: 7)
        }.get()
        var expected = Dictionary(uniqueKeysWithValues: (0..<200).map { ($0, 3_000) })
        expected[1] = 7
        #expect(try file.copied() == expected)
    }

    @Test func `rolled back pages do not overwrite what another connection commits`()
        async throws
    {
        try keepFewPages()
        let other = try ConnectionQueue.writer(file.path)
        for round in 0..<30 {
            let result = await file.writer.write { unit in
                try unit.put(99, bytes: 150_000)
                throw Planned()
            }
            guard case .failure(.other) = result else {
                Issue.record("\(result)")
                return
            }
            try await other.queue.write { db in
                try db.execute(
                    sql: "INSERT INTO numbers VALUES (?, zeroblob(5000))", arguments: [round])
            }
            // Reads and writes the rows that the other connection has just written.
            try await file.writer.write { unit in
                try unit.db.run(
                    "UPDATE numbers SET filling = zeroblob(6000) WHERE n = ?", [round])
            }.get()
            #expect(try file.copied().count == round + 1)
        }
        #expect(try file.copied().values.allSatisfy { $0 == 6_000 })
    }

    /// Writes one row in a savepoint, which may be rolled back.
    private struct Step {
        let number: Int
        let bytes: Int
        let isUndone: Bool

        func run(in unit: NumbersOwner.Unit) throws {
            try unit.db.savepoint {
                try unit.put(number, bytes: bytes)
                return !isUndone
            }
        }
    }
}
