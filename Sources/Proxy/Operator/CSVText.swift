import TablesProtocol

/// A list as comma-separated values (RFC 4180) that a spreadsheet takes for what they are.
///
/// 1. A text that a spreadsheet would run begins with an apostrophe here, which it hides. Numbers stay.
/// 2. A text with a separator of another country's spreadsheets, a tab or a semicolon, is quoted too: its
///    second half would else be a cell of its own, which could be run.
/// 3. Objects and lists are their JSON. No value, and no such member, is an empty cell.
enum CSVText {
    static func line(_ cells: [JSONValue?]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(cell ?? .null, to: &bytes)
        }
        bytes += [carriageReturn, lineFeed]
        return bytes
    }

    /// The line of a row.
    /// - Parameter columns: the names of its members that are written, most of them in their order.
    static func line(of row: JSONValue, _ columns: [String]) -> [UInt8] {
        guard case .object(let members) = row else { return line([row]) }
        return line(
            columns.enumerated().map { index, name in
                if index < members.count, members[index].name.utf8.elementsEqual(name.utf8) {
                    return members[index].value
                }
                return row[name]
            })
    }

    private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: break
        case .bool, .number: bytes += value.text.utf8
        case .array, .object: append(text: value.text, to: &bytes)
        case .string(let text): append(text: isRun(text) ? "'" + text : text, to: &bytes)
        }
    }

    /// Whether a spreadsheet would take a text for a formula.
    private static func isRun(_ text: String) -> Bool {
        text.utf8.first.map(begins.contains) ?? false
    }

    private static func append(text: String, to bytes: inout [UInt8]) {
        let isPlain = !text.utf8.contains(where: quoted.contains)
        guard !isPlain || text.utf8.first == space || text.utf8.last == space else {
            bytes += text.utf8
            return
        }
        bytes.append(quote)
        for byte in text.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let space = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let begins: [UInt8] = Array("=+-@".utf8) + [tab, carriageReturn, lineFeed]
    private static let quoted: [UInt8] = Array(",;".utf8) + [quote, tab, carriageReturn, lineFeed]
}
