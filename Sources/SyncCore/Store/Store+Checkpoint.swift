import GRDB
import Synchronization

// How the write-ahead log is kept short:
//
// 1. SQLite says after each commit how many pages the log has.
// 2. When it has grown by so many since it was last copied, the writer copies it into the file after it
//    has answered and before the next transaction. It waits for no reader.
// 3. Where all of it was copied and nobody reads in it, SQLite begins it anew with the next commit.
extension Store {
    /// Copies the log into the file when it has grown; on the writer, between its transactions.
    func keepLogShort(_ db: Database) {
        let pages = log.pages.load(ordering: .relaxed)
        let last = copiedPages.load(ordering: .relaxed)
        guard pages - (pages < last ? 0 : last) >= StoreLimits.checkpointPages else { return }
        copiedPages.store(pages, ordering: .relaxed)
        // What cannot be copied now is copied with the next stretch.
        _ = try? db.checkpoint(.passive)
    }
}
