import Foundation

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
