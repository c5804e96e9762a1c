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
