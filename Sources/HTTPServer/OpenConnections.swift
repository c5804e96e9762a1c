import Synchronization

/// The connections that are open, each until right before its socket is closed.
final class OpenConnections: Sendable {
    private let notes = Mutex<[ObjectIdentifier: ConnectionNote]>([:])

    func insert(_ note: ConnectionNote) {
        notes.withLock { $0[ObjectIdentifier(note)] = note }
    }

    func remove(_ note: ConnectionNote) {
        _ = notes.withLock { $0.removeValue(forKey: ObjectIdentifier(note)) }
    }

    /// Makes room for a newcomer:
    /// 1. of connections that wait for a whole request, cut those that their clients have left;
    ///    libmicrohttpd does not see an end that came together with the last bytes before its idle
    ///    time is over;
    /// 2. where there are none, cut the one that has waited longest, if that is at least `seconds`;
    /// 3. where there is none either, cut those whose clients have left their answers unread for
    ///    `seconds`: they took fewer than `slowestBytes` meanwhile.
    func makeRoom(seconds: Int, slowestBytes: UInt64) {
        let latest = ConnectionNote.now - seconds
        notes.withLock { notes in
            let waiting = notes.values.compactMap { note in
                note.waitingSince.map { (since: $0, note: note) }
            }
            let left = waiting.filter(\.note.isLeft)
            for one in left { one.note.cut() }
            if !left.isEmpty { return }
            if let longest = waiting.min(by: { $0.since < $1.since }), longest.since <= latest {
                longest.note.cut()
                return
            }
            for note in notes.values where note.waitingSince == nil {
                let since = note.unreadSince(slowestBytes: slowestBytes, pauseSeconds: seconds)
                if let since, since <= latest { note.cut() }
            }
        }
    }

    /// Makes room for another body: of the connections that hold memory for one and wait for the rest of
    /// it, cuts the one that has waited longest, if that is at least `seconds`.
    func makeRoomForBody(seconds: Int) {
        let latest = ConnectionNote.now - seconds
        notes.withLock { notes in
            let waiting = notes.values.filter(\.holdsBody).compactMap { note in
                note.waitingSince.map { (since: $0, note: note) }
            }
            guard let longest = waiting.min(by: { $0.since < $1.since }), longest.since <= latest
            else { return }
            longest.note.cut()
        }
    }

    /// Cuts those whose request takes longer than `seconds`.
    ///
    /// Under the lock, so that no socket is closed meanwhile and its number given to another.
    func cutOverdue(seconds: Int) {
        notes.withLock { notes in
            for note in notes.values { note.cutIfOverdue(seconds: seconds) }
        }
    }
}
