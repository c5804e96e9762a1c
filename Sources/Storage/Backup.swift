import Foundation
import GRDB

/// Whole copies of a database.
package enum Backup {
    /// Writes a consistent copy of a database as it is at one moment, while it is in use.
    ///
    /// 1. The copy grows in a new folder beside its place, which is the owner's alone: no link can be
    ///    planted in it.
    /// 2. It is on disk and verified before it gets its name.
    ///
    /// - Parameters:
    ///   - path: where nothing may be yet.
    ///   - verify: looks into the copy at the path that it gets.
    package static func write<T>(
        _ connection: Connection, to path: String, verify: (String) throws -> T
    ) throws -> T {
        let folder = "\(path).part-\(UUID().uuidString)"
        // It fails where anything has that name.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let part = folder + "/store.sqlite"
        try DatabaseFiles.make(part)
        try connection.run("VACUUM INTO ?", [part], keep: false)
        let verified = try verify(part)
        try DatabaseFiles.synchronise(part)
        try FileManager.default.moveItem(atPath: part, toPath: path)
        try DatabaseFiles.synchronise(DatabaseFiles.folder(of: path))
        return verified
    }

    /// Replaces all that a database holds with what another one holds, in one transaction.
    package static func copy(_ source: ConnectionQueue, over target: ConnectionQueue) throws {
        try source.queue.backup(to: target.queue)
    }
}

/// The files of one database, taken as one: SQLite keeps two more beside it.
package enum DatabaseFiles {
    private static let suffixes = ["-wal", "-shm", ""]

    /// An empty file that only the owner may read.
    package static func make(_ path: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if FileManager.default.fileExists(atPath: path) {
            try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        } else if !FileManager.default.createFile(
            atPath: path, contents: nil, attributes: attributes)
        {
            throw StorageError.cannotMake(path: path)
        }
        // The name is to be on disk too, which SQLite sees to for its own files alone.
        try synchronise(folder(of: path))
    }

    /// Removes a database's files, as far as they exist.
    package static func remove(_ path: String) throws {
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Gives a database's files another name.
    package static func move(_ path: String, to other: String) throws {
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: other + suffix)
        }
    }

    /// The size of a file in bytes; 0 if there is none.
    static func bytes(_ path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    /// Waits until a file, or the names in a folder, are on disk.
    static func synchronise(_ path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        try file.synchronize()
        try file.close()
    }

    static func folder(of path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().path
    }
}
