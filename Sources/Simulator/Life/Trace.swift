import Synchronization

/// The story of a life, line by line, and how often each kind of fault happened in it.
package final class Trace: Sendable {
    private let state = Mutex((lines: [String](), faults: [String: Int]()))

    package var lines: [String] { state.withLock { $0.lines } }
    package var faults: [String: Int] { state.withLock { $0.faults } }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    func fault(_ kind: String) {
        state.withLock {
            $0.faults[kind, default: 0] += 1
            $0.lines.append("  " + kind)
        }
    }
}
