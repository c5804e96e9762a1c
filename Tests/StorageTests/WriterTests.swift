import Dispatch
import Synchronization
import Testing

@testable import Storage

/// How entries share commits, on a table of numbers.
@Suite struct WriterTests {
    private struct Planned: Error {}

    @Test func `waiting entries share a transaction, and a failed entry leaves no trace`()
        async throws
    {
        let file = try NumbersFile()
        let writer = file.writer
        let gate = DispatchSemaphore(value: 0)
        let busy = Task.immediate { await writer.write { _ in gate.wait() } }
        let entries = (0..<5).map { number in
            Task.immediate {
                await writer.writeInGroup { unit in
                    try unit.put(number)
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
        #expect(file.owner.commits.withLock { $0 } == [[0, 1, 2, 4]])
        #expect(try await file.numbers() == [0, 1, 2, 4])
    }

    @Test
    func `a transaction that takes long leaves the entries behind it to the next ones, in order`()
        async throws
    {
        let file = try NumbersFile()
        file.owner.longAfter.withLock { $0 = 2 }
        let gate = DispatchSemaphore(value: 0)
        let busy = Task.immediate { await file.writer.write { _ in gate.wait() } }
        let entries = (0..<5).map { number in
            Task.immediate { await file.writer.writeInGroup { try $0.put(number) } }
        }
        gate.signal()
        _ = await busy.value
        for entry in entries { try await entry.value.get() }
        #expect(file.owner.commits.withLock { $0 } == [[0, 1], [2, 3], [4]])
    }

    @Test func `an entry that joins a transaction has a later time than the first one`()
        async throws
    {
        let file = try NumbersFile()
        let writer = file.writer
        let times = Mutex<[Int]>([])
        _ = await writer.writeInGroup { unit in
            times.withLock { $0.append(unit.now) }
            let joined = WriterEntry<NumbersOwner.Unit>(isNeverRefused: false, takesTime: false) {
                unit in
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

    @Test func `entries over the limit are refused, but not those that must be written`()
        async throws
    {
        let file = try NumbersFile()
        let writer = file.writer
        let gate = DispatchSemaphore(value: 0)
        let busy = Task.immediate { await writer.write { _ in gate.wait() } }
        let entry = WriterEntry<NumbersOwner.Unit>(isNeverRefused: false, takesTime: false) { _ in
            .init(isKept: true) {}
        } fail: { _ in
            Issue.record("it failed")
        }
        for _ in 0..<StorageLimits.waitingEntries { #expect(writer.submit(entry)) }
        #expect(!writer.submit(entry))
        let mandatory = Task.immediate { await writer.writeInGroup { try $0.put(1) } }
        gate.signal()
        _ = await busy.value
        _ = try await mandatory.value.get()
        #expect(try await file.numbers() == [1])
    }

    @Test func `a mandatory write uses the reserve when the budget is exhausted`() async throws {
        let file = try NumbersFile(budgetBytes: 1 << 18)
        let writer = file.writer
        var count = 0
        while count < 1_000 {
            let number = count
            let result = await writer.write(inBudget: true) { try $0.put(number, bytes: 3_000) }
            if case .failure(.overBudget) = result { break }
            try result.get()
            count += 1
        }
        #expect((10..<200).contains(count))
        let number = count
        try await writer.writeInGroup { try $0.put(number, bytes: 3_000) }.get()
        #expect(try await file.numbers().count == count + 1)
    }

    @Test func `an entry that failed beside another write is tried again alone`() async throws {
        let file = try NumbersFile()
        let writer = file.writer
        let attempts = Mutex(0)
        let joined = Atomic(false)
        let result = await writer.writeBesideEntries { unit in
            let round = attempts.withLock { count in
                count += 1
                return count
            }
            try unit.put(1)
            guard round == 1 else { return }
            let entry = WriterEntry<NumbersOwner.Unit>(isNeverRefused: false, takesTime: false) {
                unit in
                try unit.put(2)
                // Fails the first time, as on a full disk.
                if !joined.exchange(true, ordering: .relaxed) { throw StorageError.full }
                return .init(isKept: true) {}
            } fail: { _ in
                Issue.record("it failed")
            }
            #expect(writer.submit(entry))
        }
        _ = try result.get()
        #expect(attempts.withLock { $0 } == 2)
        #expect(try await file.numbers() == [1, 2])
        #expect(file.owner.commits.withLock { $0 } == [[1], [2]])
    }
}
