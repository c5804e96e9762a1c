import Foundation
import Synchronization
import Testing

/// The state on disk at the moment of a crash: every commit is in the file or its log by then.
final class Snapshot: Sendable {
    private struct State {
        var folder = ""
        var taken: String?
        var isFrozen = false
    }
    private let state = Mutex(State())

    func watch(_ folder: String) { state.withLock { $0 = State(folder: folder) } }

    /// Copies the store's files to the next folder; once frozen, the first copy is the last.
    func take(freezing: Bool = false) {
        state.withLock { state in
            if state.isFrozen { return }
            state.isFrozen = freezing
            let next = state.folder + "+"
            let files = FileManager.default
            do {
                try files.createDirectory(atPath: next, withIntermediateDirectories: true)
                for name in ["store.sqlite", "store.sqlite-wal"]
                where files.fileExists(atPath: "\(state.folder)/\(name)") {
                    try files.copyItem(atPath: "\(state.folder)/\(name)", toPath: "\(next)/\(name)")
                }
                state.taken = next
            } catch {
                Issue.record("no snapshot: \(error)")
            }
        }
    }

    func taken() -> String? { state.withLock { $0.taken } }
}
