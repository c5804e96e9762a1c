import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Storage

/// How entries share commits, over a table of numbers.
@Suite struct WriterTests {
    private let folder: TemporaryFolder
    private let owner = Owner()

    init() throws { folder = try TemporaryFolder() }

    private func writer(budgetBytes: Int? = nil) throws -> Writer<Owner> {
        try Writer(
            folder.path + "/file.sqlite", functions: [], migrations: Owner.migrations,
            budgetBytes: budgetBytes, accesses: AccessCount(), owner: owner)
    }

    private func numbers(_ writer: Writer<Owner>) async throws -> [Int] {
        try await writer.write { try $0.db.column("SELECT n FROM numbers ORDER BY n") as [Int] }.get()
    }

    private struct Planned: Error {}

    @Test func `entries that wait share a transaction, and one that fails leaves no trace`() async throws {
        let writer = try writer()
        let gate = DispatchSemaphore(value: 0)
        let busy = Task.immediate { await writer.write { _ in gate.wait() } }
        let entries = (0..<5).map { number in
            Task.immediate {
                await writer.writeInGroup { unit in
                    try unit.insert(number)
                    if number == 3 { throw Planned() }
                }
            }
        }
        gate.signal()
        _ = await busy.value
        var failed: [Int] = []
        for (number, entry) in entries.enumerated() {
            if case .failure(.other(let error)) = await entry.value {
                #expect(error is Planned)
                failed.append(number)
            }
        }
        #expect(failed == [3])
        #expect(owner.commits.withLock { $0.filter { !$0.isEmpty } } == [[0, 1, 2, 4]])
        #expect(try await numbers(writer) == [0, 1, 2, 4])
    }

    @Test func `what joins a transaction has a later time than what began it`() async throws {
        let writer = try writer()
        let times = Mutex<[Int]>([])
        _ = await writer.writeInGroup { unit in
            times.withLock { $0.append(unit.now) }
            let joined = WriterEntry<Owner.Unit>(isNeverRefused: false, takesTime: false) { unit in
                times.withLock { $0.append(unit.now) }
                return .init(isKept: true) {}
            } fail: { _ in
                Issue.record("it failed")
            }
            #expect(writer.submit(joined))
        }
        let seen = times.withLock { $0 }
        #expect(seen.count == 2 && seen[0] < seen[1], "\(seen)")
    }

    @Test func `more than may wait is refused, what must be written is not`() async throws {
        let writer = try writer()
        let gate = DispatchSemaphore(value: 0)
        let busy = Task.immediate { await writer.write { _ in gate.wait() } }
        let entry = WriterEntry<Owner.Unit>(isNeverRefused: false, takesTime: false) { _ in
            .init(isKept: true) {}
        } fail: { _ in
            Issue.record("it failed")
        }
        for _ in 0..<StorageLimits.waitingEntries { #expect(writer.submit(entry)) }
        #expect(!writer.submit(entry))
        let booked = Task.immediate { await writer.writeInGroup { try $0.insert(1) } }
        gate.signal()
        _ = await busy.value
        _ = try await booked.value.get()
        #expect(try await numbers(writer) == [1])
    }

    @Test func `what must be written takes the reserve when the budget is used up`() async throws {
        let writer = try writer(budgetBytes: 1 << 18)
        var count = 0
        while count < 1_000 {
            let number = count
            let result = await writer.write(inBudget: true) { try $0.insert(number, bytes: 3_000) }
            if case .failure(.overBudget) = result { break }
            try result.get()
            count += 1
        }
        #expect((10..<200).contains(count))
        let number = count
        try await writer.writeInGroup { try $0.insert(number, bytes: 3_000) }.get()
        #expect(try await numbers(writer).count == count + 1)
    }

    @Test func `what was taken along and failed is tried again alone`() async throws {
        let writer = try writer()
        let rounds = Mutex(0)
        let joined = Atomic(false)
        let result = await writer.writeBesideEntries { unit in
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            try unit.insert(1)
            guard round == 1 else { return }
            let entry = WriterEntry<Owner.Unit>(isNeverRefused: false, takesTime: false) { unit in
                try unit.insert(2)
                // The first time as if the disk were full.
                if !joined.exchange(true, ordering: .relaxed) { throw StorageError.full }
                return .init(isKept: true) {}
            } fail: { _ in
                Issue.record("it failed")
            }
            #expect(writer.submit(entry))
        }
        _ = try result.get()
        #expect(rounds.withLock { $0 } == 2)
        #expect(try await numbers(writer) == [1, 2])
        #expect(owner.commits.withLock { $0.filter { !$0.isEmpty } } == [[1], [2]])
    }
}

/// A table of numbers, and a clock that goes on with each look.
private final class Owner: WriterOwner {
    static let migrations = Migrations(steps: [
        .init(version: 1, sql: "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filling BLOB)")
    ])

    /// The numbers of each commit.
    let commits = Mutex<[[Int]]>([])
    private let time = Mutex(0)

    struct Unit {
        let db: Connection
        var now: Int
        let kept = Kept()

        final class Kept { var numbers: [Int] = [] }

        func insert(_ number: Int, bytes: Int = 0) throws {
            kept.numbers.append(number)
            try db.run("INSERT INTO numbers VALUES (?, zeroblob(?))", [number, bytes])
        }
    }

    func begin(on connection: Connection) -> Unit { Unit(db: connection, now: tick()) }
    func refresh(_ unit: inout Unit) { unit.now = tick() }
    func mark(_ unit: Unit) -> Int { unit.kept.numbers.count }
    func rollBack(_ unit: Unit, to mark: Int) { unit.kept.numbers.removeSubrange(mark...) }
    func finish(_ unit: Unit) throws {}
    func didCommit(_ unit: Unit) { commits.withLock { $0.append(unit.kept.numbers) } }
    func makeRoom(_ unit: Unit) throws -> Bool { false }

    private func tick() -> Int {
        time.withLock { time in
            time += 1
            return time
        }
    }
}

/// A folder that is removed with its last user.
private final class TemporaryFolder: Sendable {
    let path = NSTemporaryDirectory() + "understudy-storage-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // What a failed removal leaves behind is only a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: path)
    }
}
