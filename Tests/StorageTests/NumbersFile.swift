import Foundation
import Synchronization

@testable import Storage

/// A database file with a table of numbers in its own folder, and its writer.
final class NumbersFile: Sendable {
    let path: String
    let owner = NumbersOwner()
    let writer: Writer<NumbersOwner>
    private let folder: String

    init(budgetBytes: Int? = nil) throws {
        folder = NSTemporaryDirectory() + "understudy-storage-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/file.sqlite"
        writer = try Writer(
            path, functions: [], migrations: NumbersOwner.migrations, budgetBytes: budgetBytes,
            accesses: AccessCount(), owner: owner)
    }

    deinit {
        // A failed removal leaves a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: folder)
    }

    func numbers() async throws -> [Int] {
        try await writer.write { try $0.db.column("SELECT n FROM numbers ORDER BY n") as [Int] }
            .get()
    }

    /// The size of a file in bytes.
    func size(_ suffix: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
        return attributes[.size] as? Int ?? 0
    }

    /// The rows in a copy of the present files: the number of bytes of each number.
    func copied() throws -> [Int: Int] {
        let copy = folder + "/copy.sqlite"
        try DatabaseFiles.remove(copy)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        let queue = try ConnectionQueue.writer(copy)
        defer { try? queue.close() }
        return try queue.access { db in
            let faults: [String] = try db.column("PRAGMA integrity_check")
            if faults != ["ok"] { throw StorageError.damaged }
            let rows = try db.all("SELECT n, length(filling) FROM numbers") {
                ($0[0] as Int, $0[1] as Int)
            }
            return Dictionary(uniqueKeysWithValues: rows)
        }
    }
}

/// The transactions on a table of numbers. Their clock advances with each read.
final class NumbersOwner: WriterOwner {
    static let migrations = Migrations(steps: [
        .init(version: 1, sql: "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filling BLOB)")
    ])

    /// The numbers of each commit that wrote any.
    let commits = Mutex<[[Int]]>([])
    /// The numbers after which a transaction counts as long.
    let longAfter = Mutex(Int.max)
    private let time = Mutex(0)

    struct Unit {
        let db: Connection
        var now: Int
        let kept = Kept()

        final class Kept { var numbers: [Int] = [] }

        /// Writes a number with `bytes` zero bytes, and replaces an existing one.
        func put(_ number: Int, bytes: Int = 0) throws {
            kept.numbers.append(number)
            try db.run("REPLACE INTO numbers VALUES (?, zeroblob(?))", [number, bytes])
        }
    }

    func begin(on connection: Connection) -> Unit { Unit(db: connection, now: tick()) }
    func refresh(_ unit: inout Unit) { unit.now = tick() }
    func isLong(_ unit: Unit) -> Bool { longAfter.withLock { unit.kept.numbers.count >= $0 } }
    func mark(_ unit: Unit) -> Int { unit.kept.numbers.count }
    func rollBack(_ unit: Unit, to mark: Int) { unit.kept.numbers.removeSubrange(mark...) }
    func finish(_ unit: Unit) throws {}
    func makeRoom(_ unit: Unit) throws -> Bool { false }

    func didCommit(_ unit: Unit) {
        let numbers = unit.kept.numbers
        if !numbers.isEmpty { commits.withLock { $0.append(numbers) } }
    }

    private func tick() -> Int {
        time.withLock { time in
            time += 1
            return time
        }
    }
}
