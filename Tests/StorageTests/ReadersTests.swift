import Synchronization
import Testing

@testable import Storage

/// Reads of a file on connections of their own.
@Suite struct ReadersTests {
    private let file: NumbersFile

    init() throws { file = try NumbersFile() }

    private func readers(uptime: @escaping @Sendable () -> Duration = { .zero }) -> Readers {
        Readers(file.path, count: 2, uptime: uptime)
    }

    private func numbers(_ readers: Readers) throws -> [Int] {
        try readers.access { try $0.column("SELECT n FROM numbers ORDER BY n") }
    }

    /// Whether a budget ended a read of a million rows.
    private func isEnded(_ readers: Readers, steps: Int, milliseconds: Int) throws -> Bool {
        do {
            _ = try readers.access { connection in
                try connection.within(steps: steps, milliseconds: milliseconds) {
                    try connection.integer(
                        """
                        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000)
                        SELECT sum(n) FROM c
                        """)
                }
            }
            return false
        } catch {
            guard case .interrupted = StorageError(error) else { throw error }
            return true
        }
    }

    @Test func `a read waits neither for the writer nor for another read`() throws {
        let readers = readers()
        try file.writer.writeNow { try $0.put(1) }
        let seen = try file.writer.writeNow { unit -> [[Int]] in
            try unit.put(2)
            return try readers.access { connection -> [[Int]] in
                let first: [Int] = try connection.column("SELECT n FROM numbers ORDER BY n")
                return [first, try numbers(readers)]
            }
        }
        #expect(seen == [[1], [1]])
        // What is committed is seen by the next access, also on a connection that read before.
        #expect(try numbers(readers) == [1, 2])
    }

    @Test func `a read over its steps is ended, and the connection reads on`() throws {
        let readers = readers()
        try file.writer.writeNow { try $0.put(1) }
        for _ in 0..<3 {
            #expect(try isEnded(readers, steps: 100_000, milliseconds: 1_000))
            #expect(try numbers(readers) == [1])
        }
        #expect(try !isEnded(readers, steps: 1_000_000_000, milliseconds: 1_000))
    }

    @Test func `a read over its time is ended`() throws {
        let seconds = Mutex(0)
        let readers = readers {
            seconds.withLock { seconds in
                seconds += 1
                return .seconds(seconds)
            }
        }
        #expect(try isEnded(readers, steps: 1_000_000_000, milliseconds: 3_000))
        #expect(try numbers(readers) == [])
    }
}
