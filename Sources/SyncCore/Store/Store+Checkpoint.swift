import GRDB
import Synchronization

// How the write-ahead log is kept short, without a client waiting for it:
//
// 1. SQLite says after each commit how many pages the log has.
// 2. Each time it has grown by so many pages, they are copied into the file on a connection of its own,
//    while the writer goes on.
// 3. It starts anew only where all of it is copied. When it is twice as long, what was written during a
//    copy is copied next, which is less each time.
// 4. What writes much at once waits for the last little between its transactions, and leaves the
//    writer to the clients meanwhile.
// 5. Where clients alone write without a rest the log grows on. When it is three times as long, the
//    writer copies what is left before it answers.
extension Store {
    /// Looks after the log; on the writer, after a commit and before it is answered.
    func keepLogShort(_ db: Database) {
        switch log.takeNeed() {
        case .nothing: break
        case .copying:
            underWay.add(1, ordering: .relaxed)
            checkpointer.asyncWriteWithoutTransaction { db in
                _ = self.copyLog(db)
                self.underWay.subtract(1, ordering: .releasing)
            }
        case .copyingNow: _ = copyLog(db)
        }
    }

    /// Waits until a log that shall start anew is copied, for who is about to write much.
    func waitForShortLog() async {
        guard log.isWaitedFor else { return }
        underWay.add(1, ordering: .relaxed)
        await withCheckedContinuation { continuation in
            checkpointer.asyncWriteWithoutTransaction { db in
                // What clients wrote meanwhile is little and soon copied as well.
                for _ in 0..<StoreLimits.logCopies where !self.copyLog(db) {}
                continuation.resume()
                self.underWay.subtract(1, ordering: .releasing)
            }
        }
    }

    /// Copies what can be copied without waiting for anybody. True when the log can start anew.
    private func copyLog(_ db: Database) -> Bool {
        // What cannot be copied now is copied with the next stretch.
        let length = try? db.checkpoint(.passive)
        log.ended(copied: length?.checkpointedFrameCount)
        guard let length else { return true }
        return length.checkpointedFrameCount >= length.walFrameCount
    }
}
