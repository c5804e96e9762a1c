import Dispatch
import Platform
import Synchronization
import Testing

@testable import Proxy

struct SharedFileTests {
    /// The written values. The first write waits until the test releases it.
    private final class Disk: Sendable {
        let written = Mutex<[[Int]]>([])
        let begun = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)

        func write(_ value: [Int]) {
            if written.withLock({ $0.isEmpty }) {
                begun.signal()
                goesOn.wait()
            }
            written.withLock { $0.append(value) }
        }
    }

    private func add(_ number: Int, to file: SharedFile<[Int]>) {
        file.change { numbers in
            numbers.append(number)
            return true
        }
    }

    @Test func `changes during a write share the next write, and readers do not wait`()
        async throws
    {
        let disk = Disk()
        let file = SharedFile([Int]()) { value in
            disk.write(value)
            return nil
        }
        let lane = BlockingExecutor(worker: 0)
        add(0, to: file)
        let saved = Mutex(0)
        let all = DispatchSemaphore(value: 0)
        for _ in 0...29 {
            lane.run {
                try? file.save()
                saved.withLock { $0 += 1 }
                all.signal()
            }
        }
        await BlockingExecutor(worker: 0).value { disk.begun.wait() }
        for number in 1...29 { add(number, to: file) }
        #expect(file.read { $0 } == Array(0...29))
        #expect(saved.withLock { $0 } == 0)
        disk.goesOn.signal()
        await BlockingExecutor(worker: 0).value { for _ in 0...29 { all.wait() } }
        #expect(disk.written.withLock { $0 } == [[0], Array(0...29)])
    }

    @Test func `a failed write is repeated by the next call`() throws {
        let isFull = Atomic(true)
        let written = Mutex<[[Int]]>([])
        let file = SharedFile([Int]()) { value in
            if isFull.load(ordering: .relaxed) { return FileFailure("write it", code: 28) }
            written.withLock { $0.append(value) }
            return nil
        }
        try file.save()
        add(1, to: file)
        #expect(throws: FileFailure("write it", code: 28)) { try file.save() }
        #expect(throws: FileFailure("write it", code: 28)) { try file.save() }
        isFull.store(false, ordering: .relaxed)
        try file.save()
        try file.save()
        file.change { _ in false }
        try file.save()
        #expect(written.withLock { $0 } == [[1]])
    }
}
