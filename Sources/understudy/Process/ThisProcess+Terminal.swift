import Glibc
import Proxy
import TablesProtocol

// The environment, the limits and the terminal of this process.
extension ThisProcess {
    /// A variable of the environment.
    static func environment(_ name: String) -> String? {
        // The C string belongs to the environment, which nothing here changes, and is copied.
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Makes every file that is created from now on its owner's alone.
    static func keepFilesPrivate() { umask(0o077) }

    /// Lets this process open as many files as the system lets it: the soft limit becomes the hard one.
    /// Where it cannot, the soft one holds.
    static func raiseFileLimit() {
        var limit = rlimit()
        // Both calls get a struct of the right type, which only the first one fills.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return
        }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether the service manager started this process, which keeps what it says.
    static var isService: Bool {
        environment("NOTIFY_SOCKET") != nil || environment("JOURNAL_STREAM") != nil
    }

    /// Whether a person reads standard error.
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a question can be asked and answered.
    static var canAsk: Bool { isInteractive && isatty(STDIN_FILENO) == 1 }

    /// Asks a person on standard error; the answer in lower case without blanks around it.
    static func ask(_ question: String) -> String {
        write(VisibleText.line(question), to: STDERR_FILENO)
        return (readLine() ?? "").lowercased().filter { !$0.isWhitespace }
    }

    /// Writes over the last line that ``showProgress(_:)`` wrote on standard error.
    static func showProgress(_ line: String) {
        write("\r\u{1B}[K\(VisibleText.line(line))", to: STDERR_FILENO)
    }

    /// Writes a line to standard error, made visible.
    static func say(_ line: String) { write("\(VisibleText.line(line))\n", to: STDERR_FILENO) }

    /// Writes lines of the program's own to standard error, each made visible.
    static func sayLines(_ text: String) {
        write("\(VisibleText.lines(text))\n", to: STDERR_FILENO)
    }

    /// Writes a line to standard output, made visible.
    static func print(_ line: String) { write("\(VisibleText.line(line))\n", to: STDOUT_FILENO) }

    /// Writes JSON to standard output. A terminal obeys nothing in it.
    static func print(json text: String) { write("\(VisibleText.json(text))\n", to: STDOUT_FILENO) }

    /// Writes a text to standard output that is the program's own to the last byte, such as its help.
    static func print(own text: String) { write("\(text)\n", to: STDOUT_FILENO) }

    /// Ends the process at once.
    static func end(_ code: CInt) -> Never { exit(code) }

    private static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // write reads at most as many bytes as the slice has.
            let count = unsafe rest.withUnsafeBufferPointer { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The current folder.
    static var folder: String? {
        // getcwd fills the buffer, whose size it is told, with a C string.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard unsafe getcwd(&buffer, buffer.count) != nil else { return nil }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// How far long work is, on one line of a terminal; nothing where there is no terminal.
struct ProgressBar {
    private let isShown: Bool
    private var isDrawn = false

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
        let filled = min(Limits.progressBarColumns, Limits.progressBarColumns * done / total)
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: "·", count: Limits.progressBarColumns - filled)
        return "\(what)  [\(bar)] \(done) of \(total)"
    }
}
