import Foundation
import Synchronization

@testable import Storage

/// A file with a table of numbers in a folder of its own, and its writer.
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
        // What a failed removal leaves behind is only a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: folder)
    }

    func numbers() async throws -> [Int] {
        try await writer.write { try $0.db.column("SELECT n FROM numbers ORDER BY n") as [Int] }
            .get()
    }

    /// How many bytes a file has.
    func size(_ suffix: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
        return attributes[.size] as? Int ?? 0
    }

    /// What a copy of the files as they are holds: the bytes of each number.
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

/// What a transaction is to a table of numbers. Its clock goes on with each look.
final class NumbersOwner: WriterOwner {
    static let migrations = Migrations(steps: [
        .init(version: 1, sql: "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filling BLOB)")
    ])

    /// The numbers of each commit that has any.
    let commits = Mutex<[[Int]]>([])
    private let time = Mutex(0)

    struct Unit {
        let db: Connection
        var now: Int
        let kept = Kept()

        final class Kept { var numbers: [Int] = [] }

        /// Writes a number with so many bytes, instead of one that is there.
        func put(_ number: Int, bytes: Int = 0) throws {
            kept.numbers.append(number)
            try db.run("REPLACE INTO numbers VALUES (?, zeroblob(?))", [number, bytes])
        }
    }

    func begin(on connection: Connection) -> Unit { Unit(db: connection, now: tick()) }
    func refresh(_ unit: inout Unit) { unit.now = tick() }
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
