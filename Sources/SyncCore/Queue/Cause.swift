import Storage

/// What is common to reasons that differ only in the values of a row.
///
/// A backend names the row in its error: `Title "Milk" of item 7 is taken`. Each such reason is another text.
/// As the cause they are one: `Title “…” of item # is taken`.
struct Cause {
    private let bytes: [UInt8]
    private var at = 0
    /// The end of the sentence in JSON that is being read; nil outside of one.
    private var sentenceEnd: Int?
    private var result: [UInt8] = []
    /// The closing quotes that the rest of the text is known to lack. Without this set, a text of many opening
    /// quotes would be searched to its end for each of them.
    private var missingQuotes: Set<[UInt8]> = []

    /// The reason with `#` for each number, `<id>` for each id, `<date>` for each date, and `“…”` for each
    /// quoted value. Names of JSON members stay, and so do sentences in JSON.
    static func of(_ reason: String) -> String {
        var cause = Cause(bytes: Array(reason.utf8))
        cause.read()
        return String(decoding: cause.result, as: UTF8.self)
    }

    /// Whether a text has a sign that stands for a value. A cause without one belongs to one reason alone.
    static func hasMask(_ text: String) -> Bool {
        ["#", "<id>", "<date>", quoted].contains { text.contains($0) }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        result.reserveCapacity(bytes.count)
    }

    private mutating func read() {
        while at < bytes.count {
            if readQuoted() { continue }
            if bytes[at].isWord {
                readWord()
            } else {
                result.append(bytes[at])
                at += 1
            }
        }
    }

    private mutating func mask(_ sign: String, to end: Int) {
        result.append(contentsOf: sign.utf8)
        at = end
    }

    /// Whether these bytes stand at an index.
    private func has(_ text: [UInt8], at index: Int) -> Bool {
        index + text.count <= bytes.count && bytes[index..<index + text.count].elementsEqual(text)
    }
}

// Quoted values.
extension Cause {
    /// Reads a quoted value, if one begins here. False without one.
    private mutating func readQuoted() -> Bool {
        if at == sentenceEnd {
            sentenceEnd = nil
            result.append(bytes[at])
            at += 1
            return true
        }
        return switch bytes[at] {
        case UInt8(ascii: "\\") where sentenceEnd != nil && has(Self.escaped, at: at):
            readQuoted(from: at + 2, close: Self.escaped)
        case UInt8(ascii: "\""): readDoubleQuoted()
        case UInt8(ascii: "`"): readQuoted(from: at + 1, close: [UInt8(ascii: "`")])
        case UInt8(ascii: "'"): readSingleQuoted()
        case 0xE2 where has(Self.openDouble, at: at):
            readQuoted(from: at + 3, close: Self.closeDouble)
        case 0xE2 where has(Self.openSingle, at: at):
            readQuoted(from: at + 3, close: Self.closeSingle)
        default: false
        }
    }

    private static let openDouble = Array("“".utf8)
    private static let closeDouble = Array("”".utf8)
    private static let openSingle = Array("‘".utf8)
    private static let closeSingle = Array("’".utf8)
    /// A double quote in a JSON text.
    private static let escaped = Array(#"\""#.utf8)
    private static let quoted = "“…”"

    private mutating func readQuoted(from start: Int, close: [UInt8]) -> Bool {
        if missingQuotes.contains(close) { return false }
        var end = start
        while end < bytes.count {
            if has(close, at: end) {
                mask(Self.quoted, to: end + close.count)
                return true
            }
            end += 1
        }
        missingQuotes.insert(close)
        return false
    }

    /// A double quote without an end is where a long text was cut.
    private mutating func readDoubleQuoted() -> Bool {
        var end = at + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        let (inner, after) = (bytes[min(at + 1, bytes.count)..<min(end, bytes.count)], end + 1)
        if isMemberName(to: after) {
            result += bytes[at..<after]
            at = after
        } else if isAfterMemberName, inner.contains(UInt8(ascii: " ")) {
            // A sentence in JSON: its values are masked, and not the whole of it.
            sentenceEnd = end
            result.append(bytes[at])
            at += 1
        } else {
            mask(Self.quoted, to: min(after, bytes.count))
        }
        return true
    }

    /// Whether the text from here to an index is the name of a JSON member: it follows a brace or a comma,
    /// and a colon follows it.
    private func isMemberName(to index: Int) -> Bool {
        let next = bytes.dropFirst(index).first { $0 != UInt8(ascii: " ") }
        return next == UInt8(ascii: ":")
            && [UInt8(ascii: "{"), UInt8(ascii: ",")].contains(signsBefore.first)
    }

    /// Whether a name in double quotes and a colon stand before this place.
    private var isAfterMemberName: Bool {
        signsBefore.prefix(2).elementsEqual([UInt8(ascii: ":"), UInt8(ascii: "\"")])
    }

    /// What stands before this place, from here backwards, without spaces.
    private var signsBefore: some Collection<UInt8> {
        bytes[..<at].reversed().lazy.filter { $0 != UInt8(ascii: " ") }
    }

    /// A single quote inside of a word is an apostrophe.
    private mutating func readSingleQuoted() -> Bool {
        let close = [UInt8(ascii: "'")]
        guard at == 0 || !bytes[at - 1].isWord, !missingQuotes.contains(close) else {
            return false
        }
        var end = at + 1
        while end < bytes.count {
            let isLast = end + 1 == bytes.count || !bytes[end + 1].isWord
            if bytes[end] == UInt8(ascii: "'"), isLast {
                mask(Self.quoted, to: end + 1)
                return true
            }
            end += 1
        }
        missingQuotes.insert(close)
        return false
    }
}

// Words with digits: dates, ids and numbers.
extension Cause {
    private mutating func readWord() {
        var end = at
        while end < bytes.count, bytes[end].isWord || bytes[end] == UInt8(ascii: "-") { end += 1 }
        let word = bytes[at..<end]
        if !word.contains(where: \.isDigit) {
            result += word
            at = end
        } else if let end = endOfDate {
            mask("<date>", to: end)
        } else if Self.isID(word) {
            mask("<id>", to: end)
        } else {
            readNumbers(to: end)
        }
    }

    /// A word with a letter is an id if it is long, if it is hexadecimal and not short, or if it has digits at
    /// more than one place.
    private static func isID(_ word: ArraySlice<UInt8>) -> Bool {
        var (numbers, wasDigit, hasLetter, isHexadecimal) = (0, false, false, true)
        for byte in word {
            if byte.isDigit, !wasDigit { numbers += 1 }
            wasDigit = byte.isDigit
            let isHyphen = byte == UInt8(ascii: "-")
            if !wasDigit, !isHyphen { hasLetter = true }
            if !byte.isHexadecimal, !isHyphen { isHexadecimal = false }
        }
        guard hasLetter else { return false }
        return word.count >= 16 || (isHexadecimal && word.count >= 8) || numbers >= 2
    }

    /// Copies a word, with `#` for each number in it. The last number may go on behind the word: `1,234.5`.
    private mutating func readNumbers(to end: Int) {
        while at < end {
            guard bytes[at].isDigit else {
                result.append(bytes[at])
                at += 1
                continue
            }
            var after = at
            while after < bytes.count, bytes[after].isDigit || isSeparator(after) { after += 1 }
            mask("#", to: after)
        }
    }

    /// Whether a point or a comma between two digits is at an index.
    private func isSeparator(_ index: Int) -> Bool {
        let isSign = bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: ",")
        return isSign && index + 1 < bytes.count && bytes[index + 1].isDigit
    }

    /// The end of the date that begins here, as ISO 8601 writes it, with or without a time; nil without one.
    private var endOfDate: Int? {
        guard var end = match("0000-00-00", at: at) else { return nil }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "T") || bytes[end] == UInt8(ascii: " "),
            let minutes = match("00:00", at: end + 1)
        else { return end }
        end = match(":00", at: minutes) ?? minutes
        if end < bytes.count, isSeparator(end) {
            end += 1
            while end < bytes.count, bytes[end].isDigit { end += 1 }
        }
        if end < bytes.count, bytes[end] == UInt8(ascii: "Z") { return end + 1 }
        return match("+00:00", at: end) ?? match("-00:00", at: end) ?? end
    }

    /// The end of a form at an index, where `0` stands for any digit.
    private func match(_ form: String, at index: Int) -> Int? {
        let end = index + form.utf8.count
        guard end <= bytes.count else { return nil }
        let fits = zip(form.utf8, bytes[index..<end]).allSatisfy { sign, byte in
            sign == UInt8(ascii: "0") ? byte.isDigit : byte == sign
        }
        return fits ? end : nil
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    fileprivate var isHexadecimal: Bool {
        isDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20
    }
    /// A letter, a digit, an underscore, or a part of a letter outside of ASCII.
    fileprivate var isWord: Bool {
        isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
            || self == UInt8(ascii: "_") || self >= 0x80
    }
}

extension ScalarFunction {
    /// `cause_of(reason)`: ``Cause/of(_:)`` of a text, null of null.
    static let causeOf = ScalarFunction("cause_of", argumentCount: 1) { values in
        guard case .text(let reason) = values[0] else { return Call(.null) }
        return Call(.text(Cause.of(reason)))
    }
}
