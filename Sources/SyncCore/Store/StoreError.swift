import Storage

/// Why the store could not do something, in a sentence for the operator.
public enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    case cannotOpen(String)
    case otherVersion(String)
    /// The file is not a store, or damaged.
    case damaged(String)
    case full(String)
    /// The file has all the pages that its budget allows.
    case overBudget(String)
    /// The file cannot be written.
    case readOnly(String)
    /// Anything else.
    case failed(String)

    public var description: String {
        switch self {
        case .cannotOpen(let text), .otherVersion(let text), .damaged(let text), .full(let text),
            .overBudget(let text),
            .readOnly(let text), .failed(let text):
            text
        }
    }
}

extension StoreError {
    /// What went wrong while reading or writing.
    init(_ error: any Error) {
        if let error = error as? StoreError { self = error } else { self.init(StorageError(error)) }
    }

    /// What went wrong while reading or writing.
    init(_ error: StorageError) {
        self =
            switch error {
            case .full: .full("The disk is full.")
            case .overBudget: .overBudget("The disk budget of the store is used up (disk-budget).")
            case .readOnly: .readOnly("The store cannot be written.")
            case .cannotOpen: .cannotOpen("The store cannot be opened.")
            case .cannotMake(let path): .cannotOpen("The file \(path) cannot be made.")
            case .noFullSynchronisation(let path):
                .cannotOpen("SQLite refuses WAL with full synchronisation for \(path).")
            case .damaged, .notADatabase:
                // SQLite says the same where the disk could not be read for a moment.
                .damaged(
                    "The store could not be read: the disk fails, or the file is damaged. `understudy "
                        + "doctor` looks which.")
            case .newerVersion:
                .otherVersion(
                    "A newer version of Understudy wrote this store. Use that version, or a new folder."
                )
            case .olderVersion:
                .otherVersion(
                    "A build of Understudy from before the first release wrote this store, and nothing in it was "
                        + "changed. Send what it holds with the build that wrote it, then move the data "
                        + "folder away, or use a new folder.")
            case .unknownVersion(let version):
                .damaged("There never was a version \(version) of the store.")
            case .noTemporaryFile:
                .failed("This change needs a temporary file, and none can be made.")
            case .interrupted: .failed("SQLite error 9: interrupted")
            case .diskFailed(let code):
                .failed("The disk failed while the store was used (SQLite error \(code)).")
            case .sqlite(let code, let message): .failed("SQLite error \(code): \(message)")
            case .other(let error as StoreError): error
            case .other(let error): .failed("The store failed: \(error)")
            }
    }

    /// What went wrong while a file was opened as a store.
    init(opening path: String, _ error: any Error) {
        if let error = error as? StoreError {
            self = error
            return
        }
        let error = StorageError(error)
        switch error {
        case .notADatabase:
            self = .damaged("The file \(path) is not a store, or its beginning is damaged.")
        case .damaged:
            self = .damaged(
                "The file \(path) cannot be read as a store: it is damaged, or the disk fails. Look "
                    + "with `understudy doctor` before a backup is restored.")
        case .other(let error as StoreError): self = error
        case .other(let error): self = .cannotOpen("The store \(path) cannot be opened: \(error)")
        case .readOnly:
            self = .readOnly(
                "The store \(path) cannot be written: its user needs the right to write to the file and "
                    + "its folder, on a disk that is not mounted read-only. `understudy doctor` says how."
            )
        case .cannotOpen:
            self = .cannotOpen(
                "The store \(path) cannot be opened: its user needs the right to read and write the file "
                    + "and its folder. `understudy doctor` says how.")
        case .full: self = .full("The disk of \(path) is full.")
        case .overBudget, .cannotMake, .noFullSynchronisation, .newerVersion, .olderVersion,
            .unknownVersion,
            .noTemporaryFile, .interrupted, .diskFailed, .sqlite:
            self.init(error)
        }
    }
}
