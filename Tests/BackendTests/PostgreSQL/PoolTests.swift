import Dispatch
import PostgreSQL
import TestSupport
import Testing

/// The bounds of the connections to PostgreSQL.
@Suite struct PoolTests {
    @Test(.ends) func `a queue that is full takes no more calls`() throws {
        // Nothing connects to it.
        let pool = try PostgreSQLPool("postgresql:///x", schema: "public", connections: 1)
        let begun = DispatchSemaphore(value: 0)
        let end = DispatchSemaphore(value: 0)
        let first = pool.submit(.brief) {
            begun.signal()
            end.wait()
        }
        #expect(first == .begins)
        begun.wait()
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<Limits.waitingCalls {
            let submission = pool.submit(.brief) { done.signal() }
            #expect(submission == .waits)
        }
        let excess = pool.submit(.brief) {}
        #expect(excess == .refused)
        end.signal()
        for _ in 0..<Limits.waitingCalls { done.wait() }
        let again = pool.submit(.brief) {}
        #expect(again != .refused)
    }

    @Test(.ends) func `what takes a moment never waits for lists`() throws {
        let pool = try PostgreSQLPool("postgresql:///x", schema: "public", connections: 8)
        let end = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        func submit(_ count: Int, _ lane: PostgreSQLPool.Lane) -> [PostgreSQLPool.Submission] {
            (0..<count).map { _ in
                pool.submit(lane) {
                    end.wait()
                    done.signal()
                }
            }
        }
        let begins = PostgreSQLPool.Submission.begins
        let waits = PostgreSQLPool.Submission.waits
        // Long lists have half of the threads, all lists three quarters.
        #expect(submit(6, .longList) == [begins, begins, begins, begins, waits, waits])
        #expect(submit(3, .list) == [begins, begins, waits])
        #expect(submit(3, .brief) == [begins, begins, waits])
        #expect(pool.load.waiting == 4)
        // None is left behind.
        for _ in 0..<12 { end.signal() }
        for _ in 0..<12 { done.wait() }
        #expect(pool.load.waiting == 0)
    }

    @Test(.ends) func `a connection that was lost takes the idle ones of its server along`() throws
    {
        let application = "pool-\(PostgreSQLServer.newSchema())"
        let url = try PostgreSQLServer.url()
        let killer = try PostgreSQLPool(url, schema: "public")
        let pool = try PostgreSQLPool("\(url)&application_name=\(application)", schema: "public")
        let one = "SELECT 1"
        // Two connections, which are idle afterwards.
        try pool.withConnection { first in
            try first.run(one)
            try pool.withConnection { second in _ = try second.run(one) }
        }
        let ended = try killer.withConnection { connection in
            try connection.run(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                WHERE application_name = $1::text
                """, [.text(application)])
        }
        #expect(ended.count == 2)
        #expect(throws: PostgreSQLError.self) { try pool.withConnection { try $0.run(one) } }
        let answer = try pool.withConnection { try $0.run(one) }
        #expect(answer.count == 1)
    }

    @Test(.ends) func `a connection whose transaction is still open is not kept`() throws {
        let pool = try PostgreSQLPool(PostgreSQLServer.url(), schema: "public")
        let process = "SELECT pg_backend_pid()"
        let first = try pool.withConnection { connection in
            try connection.run(script: "BEGIN")
            return try connection.run(process)
        }
        let second = try pool.withConnection { try $0.run(process) }
        #expect(first != second)
        #expect(try pool.withConnection { try $0.run(process) } == second)
    }

    @Test(.ends) func `too many values are refused, and the connection stays`() throws {
        let pool = try PostgreSQLPool(PostgreSQLServer.url(), schema: "public")
        let values = Array(repeating: PostgreSQLValue.null, count: 65_536)
        let process = "SELECT pg_backend_pid()"
        let first = try pool.withConnection { try $0.run(process) }
        #expect(throws: PostgreSQLError.tooManyValues) {
            try pool.withConnection { try $0.run("SELECT 1", values) }
        }
        let second = try pool.withConnection { try $0.run(process) }
        #expect(first == second)
    }
}
