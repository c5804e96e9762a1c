import GRDB

/// Why SQLite, or the disk below it, could not do something.
package enum StorageError: Error, Sendable {
    case cannotOpen
    case cannotMake(path: String)
    /// SQLite does not write the file as it has to, with a log and full synchronisation.
    case noFullSynchronisation(path: String)
    /// The file is no database, or its beginning is damaged.
    case notADatabase
    /// The file is damaged, or the disk could not be read for a moment.
    case damaged
    /// A newer version of the program wrote the file.
    case newerVersion
    /// An earlier version wrote the file, from which no step leads on.
    case olderVersion
    /// There never was such a version of the file.
    case unknownVersion(Int)
    case full
    /// The file has all the pages that its budget allows.
    case overBudget
    /// The file cannot be written.
    case readOnly
    /// A change needs a temporary file, and none can be made.
    case noTemporaryFile
    /// A read was over its budget of steps.
    case interrupted
    /// The disk failed, with SQLite's extended code.
    case diskFailed(code: Int)
    /// Anything else of SQLite's.
    case sqlite(code: Int, message: String)
    /// An error that a body threw.
    case other(any Error)

    /// Makes the error for a failure to read or write a file.
    package init(_ error: any Error) {
        if let error = error as? StorageError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self = .other(error)
            return
        }
        // A disk that the system has made read-only under open files refuses each write by itself.
        switch error.extendedResultCode {
        case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC,
            .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_SHMSIZE:
            self = .readOnly
            return
        default: break
        }
        switch error.resultCode {
        case .SQLITE_FULL: self = .full
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
        case .SQLITE_CANTOPEN: self = .cannotOpen
        case .SQLITE_CORRUPT: self = .damaged
        case .SQLITE_NOTADB: self = .notADatabase
        case .SQLITE_INTERRUPT: self = .interrupted
        case .SQLITE_IOERR: self = .diskFailed(code: Int(error.extendedResultCode.rawValue))
        default:
            // Never the arguments: they hold rows.
            self = .sqlite(code: Int(error.resultCode.rawValue), message: error.message ?? "")
        }
    }

    /// Whether nothing of a transaction can be committed after it.
    var endsTransaction: Bool {
        switch self {
        case .full, .overBudget, .readOnly, .damaged, .notADatabase, .newerVersion,
            .olderVersion:
            true
        case .cannotOpen, .cannotMake, .noFullSynchronisation, .unknownVersion, .noTemporaryFile,
            .interrupted, .diskFailed, .sqlite, .other:
            false
        }
    }
}

package enum SQLiteLibrary {
    /// Its version, such as `3.40.1`.
    package static let version: String = {
        let version: String? = try? ConnectionQueue.inMemory().access { connection in
            try connection.first("SELECT sqlite_version()") { $0[0] as String }
        }
        return version ?? "unknown"
    }()

    /// Whether it may damage a file where one connection copies the log while another begins it anew
    /// (before 3.51.3; sqlite.org/wal.html). Here one connection does both.
    package static var hasLogResetFault: Bool {
        version.split(separator: ".").compactMap { Int($0) }.lexicographicallyPrecedes([3, 51, 3])
    }
}
