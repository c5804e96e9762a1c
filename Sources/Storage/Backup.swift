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
