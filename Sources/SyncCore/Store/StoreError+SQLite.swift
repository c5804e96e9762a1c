import GRDB

extension StoreError {
    /// What went wrong while reading or writing.
    init(_ error: any Error) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self = .failed("The store failed: \(error)")
            return
        }
        // A disk that the system has made read-only under open files refuses each write by itself.
        switch error.extendedResultCode {
        case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC,
            .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_SHMSIZE:
            self = .readOnly("The store cannot be written.")
            return
        default: break
        }
        switch error.resultCode {
        case .SQLITE_FULL: self = .full("The disk is full.")
        case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly("The store cannot be written.")
        case .SQLITE_CANTOPEN: self = .cannotOpen("The store cannot be opened.")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            // SQLite says the same where the disk could not be read for a moment.
            self = .damaged(
                "The store could not be read: the disk fails, or the file is damaged. `understudy doctor` "
                    + "looks which.")
        case .SQLITE_IOERR:
            self = .failed(
                "The disk failed while the store was used (SQLite error "
                    + "\(error.extendedResultCode.rawValue)).")
        default:
            // Never the arguments: they hold rows.
            self = .failed("SQLite error \(error.resultCode.rawValue): \(error.message ?? "")")
        }
    }
}
