import Logging
import TablesProtocol
import Testing

@testable import Program
@testable import understudy

@Suite struct VisibleTextTests {
    /// Control and invisible characters, with their escapes in a line and in a JSON text.
    static let hidden: [(name: String, text: String, line: String, json: String)] = [
        ("ESC", "\u{1B}[2J", #"\u{1B}[2J"#, #"\u001B[2J"#),
        ("OSC", "\u{1B}]0;t\u{7}", #"\u{1B}]0;t\u{07}"#, #"\u001B]0;t\u0007"#),
        ("C1", "\u{9B}31m\u{80}\u{9F}", #"\u{9B}31m\u{80}\u{9F}"#, #"\u009B31m\u0080\u009F"#),
        ("BEL", "\u{7}", #"\u{07}"#, #"\u0007"#),
        ("BS", "\u{8}", #"\u{08}"#, #"\u0008"#),
        ("NUL", "\u{0}", #"\u{00}"#, #"\u0000"#),
        ("DEL", "\u{7F}", #"\u{7F}"#, #"\u007F"#),
        ("CR", "\r", #"\r"#, #"\u000D"#),
        ("tab", "\t", #"\t"#, #"\u0009"#),
        (
            "bidirectional", "\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}",
            #"\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}"#,
            #"\u202A\u202E\u2066\u2069\u200E\u200F\u061C"#
        ),
        ("separators", "\u{2028}\u{2029}", #"\u{2028}\u{2029}"#, #"\u2028\u2029"#),
        ("beyond 16 bits", "\u{E0041}", #"\u{E0041}"#, #"\uDB40\uDC41"#),
    ]

    @Test(arguments: hidden)
    func `characters that control a terminal are escaped`(
        _ name: String, _ text: String, _ line: String, _ json: String
    ) {
        #expect(VisibleText.line("a\(text)b") == "a\(line)b")
        #expect(VisibleText.json("{\"a\(text)b\":1}") == "{\"a\(json)b\":1}")
        // Visible text is unchanged.
        #expect(VisibleText.line(VisibleText.line(text)) == line)
    }

    @Test func `a line break stays only in a text of lines`() {
        #expect(VisibleText.line("a\nb\r\nc") == #"a\nb\r\nc"#)
        #expect(VisibleText.lines("a\u{1B}\nb\r\n\nc") == "a\\u{1B}\nb\\r\n\nc")
        #expect(VisibleText.json("[1,\n2]") == "[1,\n2]")
    }

    @Test func `words of every language stay as they are`() {
        let words = "Zoë 日本 עברית العربية नमस्\u{200D}ते می\u{200C}خواهم 👩‍👩‍👧 \\ \\u{1B} \"'<&"
        #expect(VisibleText.line(words) == words)
        #expect(VisibleText.json(words) == words)
    }

    @Test func `escaped JSON has the same values`() throws {
        let value = JSONValue.object(
            Self.hidden.map { .init("k\($0.text)", .string("v\($0.text)")) })
        let text = VisibleText.json(value.text)
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
        #expect(VisibleText.line(text) == text)
    }

    @Test(arguments: [false, true])
    func `a line of the log is escaped`(isJSON: Bool) {
        let log = ProcessLog(isJSON: isJSON, level: .debug, write: { _ in })
        let event = LogEvent(
            level: .notice, message: "refused", error: nil, metadata: nil, source: "", file: "",
            function: "",
            line: 1)
        let line = log.line(
            event, metadata: ["host": "\u{1B}[2J\n\u{9B}\u{202E}"], at: Instant(milliseconds: 0))
        #expect(
            line
                == (isJSON
                    ? #"{"time":"1970-01-01T00:00:00.000Z","level":"notice","message":"refused","#
                        + #""host":"\u001b[2J\n\u009B\u202E"}"#
                    : #"1970-01-01T00:00:00.000Z notice refused host=\u{1B}[2J\n\u{9B}\u{202E}"#))
    }

    @Test func `a line is folded at blanks to the width of a terminal, and no word is cut`() {
        let line = "  a1  since 2026-11-28  Mozilla/5.0 (X11; Linux x86_64)"
        #expect(VisibleText.folded(line, columns: nil) == line)
        #expect(VisibleText.folded(line, columns: line.count) == line)
        #expect(
            VisibleText.folded(line, columns: 30)
                == "  a1  since 2026-11-28\n      Mozilla/5.0 (X11; Linux\n      x86_64)")
        let address = "http://127.0.0.1:8080/-/#link=secret"
        #expect(
            VisibleText.folded("open \(address) now", columns: 20)
                == "open\n    \(address)\n    now")
        for columns in 1...60 {
            let words = VisibleText.folded(line, columns: columns).split { " \n".contains($0) }
            #expect(words == line.split(separator: " "))
        }
    }
}
