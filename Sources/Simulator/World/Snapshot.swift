import Foundation
import Synchronization

/// The state on disk at the moment of a crash: every commit is in the file or its log by then.
final class Snapshot: Sendable {
    private struct State {
        var folder = ""
        var taken: String?
        var failure: (any Error)?
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
                state.failure = error
            }
        }
    }

    /// The folder of the latest copy.
    /// - Throws: what kept the copy from being made.
    func taken() throws -> String {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.taken ?? state.folder
        }
    }
}
