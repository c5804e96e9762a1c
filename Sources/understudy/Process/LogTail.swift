import Synchronization

/// The last lines of a log.
final class LogTail: Sendable {
    private struct Kept {
        var lines: [String] = []
        /// The index of the oldest line, once as many lines are kept as may be.
        var oldest = 0
    }
    private let kept = Mutex(Kept())
    private let places: Int

    /// - Parameter places: how many lines are kept.
    init(places: Int) { self.places = places }

    /// Adds a line. At the limit it replaces the oldest one.
    func append(_ line: String) {
        kept.withLock { kept in
            if kept.lines.count < places { return kept.lines.append(line) }
            kept.lines[kept.oldest] = line
            kept.oldest = (kept.oldest + 1) % places
        }
    }

    /// The lines, the oldest first.
    var lines: [String] {
        kept.withLock { Array($0.lines[$0.oldest...] + $0.lines[..<$0.oldest]) }
    }
}
