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

    /// Cuts those whose request takes longer than `seconds`.
    ///
    /// Under the lock, so that no socket is closed meanwhile and its number given to another.
    func cutOverdue(seconds: Int) {
        notes.withLock { notes in
            for note in notes.values { note.cutIfOverdue(seconds: seconds) }
        }
    }
}
