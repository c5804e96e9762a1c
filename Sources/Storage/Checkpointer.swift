import GRDB
import Synchronization

/// Keeps a file's write-ahead log short.
///
/// 1. SQLite says after each commit how many pages the log has.
/// 2. When it has grown by so many since it was last copied, the writer copies it into the file after it
///    has answered and before the next transaction. It waits for no reader.
/// 3. Where all of it was copied and no connection reads in it, SQLite begins it anew with the next commit.
///
/// Only a ``Writer`` uses it: no other connection may copy the log (see ``ConnectionQueue``).
final class Checkpointer: Sendable {
    private let log: LogLength
    /// How long the log was when it was last copied into the file.
    private let copiedPages = Atomic(0)

    init(_ log: LogLength) { self.log = log }

    /// Copies the log into the file when it has grown; between transactions.
    func keepLogShort(_ connection: Connection) {
        let pages = log.pages.load(ordering: .relaxed)
        let last = copiedPages.load(ordering: .relaxed)
        guard pages - (pages < last ? 0 : last) >= StorageLimits.checkpointPages else { return }
        copiedPages.store(pages, ordering: .relaxed)
        // What cannot be copied now is copied with the next stretch.
        _ = try? connection.database.checkpoint(.passive)
    }
}
