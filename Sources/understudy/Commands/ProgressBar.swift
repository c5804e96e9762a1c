import Proxy
import TablesProtocol

/// How far long work is, on one line of a terminal; nothing where there is no terminal.
struct ProgressBar {
    private let isShown: Bool
    private var isDrawn = false
    /// Columns of the bar.
    private static let width = 30

    /// Makes a bar.
    init(isShown: Bool = ThisProcess.isInteractive) {
        self.isShown = isShown
    }

    /// Draws how far it is.
    mutating func draw(_ what: String, done: Int, total: Int?) {
        guard isShown else { return }
        isDrawn = true
        ThisProcess.showProgress(Self.line(what, done: done, total: total))
    }

    /// Takes the line away.
    mutating func end() {
        if isDrawn { ThisProcess.showProgress("") }
        isDrawn = false
    }

    /// One line, such as `push  [##########··········] 12 of 24`.
    static func line(_ what: String, done: Int, total: Int?) -> String {
        guard let total, total > 0 else { return "\(what)  \(done)" }
        let filled = min(Self.width, Self.width * done / total)
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: "·", count: Self.width - filled)
        return "\(what)  [\(bar)] \(done) of \(total)"
    }
}
