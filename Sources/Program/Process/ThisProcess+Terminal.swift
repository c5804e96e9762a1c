import Digests
import Glibc
import HTTPClient
import HTTPServer
package import Platform
import SyncCore
import TablesProtocol

// The environment, the limits and the terminal of this process.
extension ThisProcess {
    /// The names of all variables; none if the system does not say them.
    package static var environmentNames: [String] {
        let bytes = (try? Files.read("/proc/self/environ")) ?? nil
        return (bytes ?? []).split(separator: 0).map { pair in
            String(decoding: pair.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        }
    }

    /// Sets the umask so that new files are accessible to their owner alone.
    package static func keepFilesPrivate() { umask(0o077) }

    /// Raises the soft limit of open files to the hard limit. If that fails, the soft limit stays.
    package static func raiseFileLimit() {
        var limit = rlimit()
        // Both calls get a struct of the right type, which only the first one fills.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return
        }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether the service manager started this process; it keeps the output of the process.
    package static var isService: Bool {
        environment("NOTIFY_SOCKET") != nil || environment("JOURNAL_STREAM") != nil
    }

    /// Whether standard error is a terminal.
    package static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether what is written to standard error stays in a journal or a file. A one-time link must not be
    /// written there.
    package static var isOutputKept: Bool { isService || !isInteractive }

    /// Whether standard input and standard error are terminals.
    package static var canAsk: Bool { isInteractive && isatty(STDIN_FILENO) == 1 }

    /// Asks a question on standard error.
    /// - Returns: the answer in lower case without blanks.
    package static func ask(_ question: String) -> String {
        writeError(VisibleText.line(question))
        return (readLine() ?? "").lowercased().filter { !$0.isWhitespace }
    }

    /// Writes a line to standard error over the last line of ``showProgress(_:)``.
    package static func showProgress(_ line: String) {
        writeError("\r\u{1B}[K\(VisibleText.line(line))")
    }

    /// Writes a line to standard error, escaped as ``VisibleText``, and folded to the width of a terminal.
    package static func say(_ line: String) {
        let columns = columns(of: STDERR_FILENO)
        writeError("\(VisibleText.folded(VisibleText.line(line), columns: columns))\n")
    }

    /// Writes lines to standard error, each as ``say(_:)`` does.
    package static func sayLines(_ text: String) {
        let columns = columns(of: STDERR_FILENO)
        let lines = VisibleText.lines(text).split(separator: "\n", omittingEmptySubsequences: false)
            .map { VisibleText.folded(String($0), columns: columns) }
        writeError("\(lines.joined(separator: "\n"))\n")
    }

    /// Writes a line to standard output, escaped as ``VisibleText``, and folded to the width of a terminal.
    package static func print(_ line: String) {
        let columns = columns(of: STDOUT_FILENO)
        writeOutput("\(VisibleText.folded(VisibleText.line(line), columns: columns))\n")
    }

    /// The width of a terminal; nil if the descriptor is none, or the terminal does not say its width.
    private static func columns(of descriptor: CInt) -> Int? {
        var size = winsize()
        // ioctl fills the struct that it is given, which lives until the call returns.
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Writes JSON to standard output, without characters that control a terminal.
    package static func print(json text: String) { writeOutput("\(VisibleText.json(text))\n") }

    /// Writes a line of comma-separated values to standard output, escaped as ``VisibleText``: behind a pipe there
    /// may be a terminal.
    package static func print(csvLine line: String) {
        // A carriage return and a line feed are one character.
        let text = line.unicodeScalars.last == "\r" ? String(line.unicodeScalars.dropLast()) : line
        writeOutput("\(VisibleText.line(text))\n")
    }

    /// Writes text of this program, such as its help, to standard output without escapes.
    package static func print(own text: String) { writeOutput("\(text)\n") }

    /// Ends the process at once.
    package static func end(_ code: CInt) -> Never { exit(code) }

    /// Writes all of it to standard output. If that fails, ends the process with exit code 1, so that
    /// output with a gap does not look whole. A reader that is gone, such as `head`, is no failure.
    private static func writeOutput(_ text: String) { writeOutput(Array(text.utf8)) }

    private static func writeOutput(_ bytes: [UInt8]) {
        let output = OpenDescriptor(number: STDOUT_FILENO, name: "standard output")
        do {
            try output.write(bytes)
        } catch {
            if error.code == EPIPE { return }
            say("understudy: \(error)")
            end(ExitStatus.error.rawValue)
        }
    }

    /// Writes a text to standard error. What cannot be written is lost: there is no other place to say so.
    private static func writeError(_ text: String) {
        try? OpenDescriptor(number: STDERR_FILENO, name: "standard error").write(Array(text.utf8))
    }

    package static var folder: String? {
        // getcwd writes a C string to the buffer, and gets its size.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard unsafe getcwd(&buffer, buffer.count) != nil else { return nil }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The progress of long work on one line of a terminal; nothing without a terminal.
package struct ProgressBar {
    private let isShown: Bool
    private var isDrawn = false

    package init(isShown: Bool = ThisProcess.isInteractive) {
        self.isShown = isShown
    }

    package mutating func draw(_ what: String, done: Int, total: Int?) {
        guard isShown else { return }
        isDrawn = true
        ThisProcess.showProgress(Self.line(what, done: done, total: total))
    }

    package mutating func end() {
        if isDrawn { ThisProcess.showProgress("") }
        isDrawn = false
    }

    /// The line, such as `push  [##########··········] 12 of 24`.
    package static func line(_ what: String, done: Int, total: Int?) -> String {
        guard let total, total > 0 else { return "\(what)  \(done)" }
        let filled = min(Limits.progressBarColumns, Limits.progressBarColumns * done / total)
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: "·", count: Limits.progressBarColumns - filled)
        return "\(what)  [\(bar)] \(done) of \(total)"
    }
}

extension Library {
    /// The libraries of every program that are loaded, each with its version.
    package static let shared =
        ([("libmicrohttpd", ServerLibrary.version), ("SQLite", Store.sqliteVersion)]
        + ClientLibrary.versions.map { ($0.name, $0.version) }
        + [("GnuTLS", SHA256.libraryVersion)])
        .map { Library(name: $0.0, version: $0.1) }
}

/// Escapes text for terminals, pipes and logs. The text may come from other programs (rows, ids, reasons,
/// hosts, names), and must neither control a terminal nor have invisible characters.
///
/// All characters of the Unicode categories Cc (ESC, BEL, BS, DEL, line breaks, tabs, the C1 controls), Cf
/// (such as the bidirectional marks), Zl and Zp are escaped. The two joiners of Cf stay, since words and
/// emoji need them.
package enum VisibleText {
    /// One line: `\n`, `\r` and `\t` as in Swift, all else as `\u{1B}`.
    package static func line(_ text: String) -> String {
        escaping(text, isHidden) { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            default: "\\u{\(digits(scalar.value, atLeast: 2))}"
            }
        }
    }

    /// A text of several lines, each escaped.
    package static func lines(_ text: String) -> String {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line(String($0)) }.joined(separator: "\n")
    }

    /// A line in several ones that a terminal shows whole: each further one is indented by four more. A word that
    /// is longer than a line, such as an address to copy, stays whole.
    /// - Parameter columns: of the terminal; nil for no terminal, and the line stays as it is.
    package static func folded(_ line: String, columns: Int?) -> String {
        guard let columns, line.count > columns else { return line }
        let indent = line.prefix { $0 == " " }.count
        var rest = line.dropFirst(indent)
        var lines: [String] = []
        while !rest.isEmpty {
            let lead = String(repeating: " ", count: lines.isEmpty ? indent : indent + 4)
            let room = max(1, columns - lead.count)
            let fitting = rest.prefix(room + 1)
            let end = fitting.count <= room ? rest.endIndex : fitting.lastIndex(of: " ")
            let next = end ?? rest.firstIndex(of: " ") ?? rest.endIndex
            var words = rest[..<next]
            while words.last == " " { words.removeLast() }
            lines.append(lead + words)
            rest = rest[next...].drop { $0 == " " }
        }
        return lines.joined(separator: "\n")
    }

    /// A JSON text with escapes such as `\u001B`; its values stay the same.
    package static func json(_ text: String) -> String {
        escaping(text, { isHidden($0) && $0 != "\n" }) { scalar in
            String(scalar).utf16.map { "\\u\(digits(UInt32($0), atLeast: 4))" }.joined()
        }
    }

    private static func escaping(
        _ text: String, _ isHidden: (Unicode.Scalar) -> Bool,
        _ escape: (Unicode.Scalar) -> String
    ) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var visible = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                visible += escape(scalar)
            } else {
                visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }

    private static func digits(_ value: UInt32, atLeast count: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
