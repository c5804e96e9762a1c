/// Splits the text of an expression into tokens, for both dialects of OData.
///
/// Numbers, dates, times and GUIDs may be written without quotes. A hyphen is part of an identifier (`a-b`
/// is one name), because there is no operator `-` between operands.
struct Lexer {
    let option: String
    let bytes: [UInt8]
    let generation: Generation
    var position = 0
    private(set) var tokens: [Token] = []
    /// The number of open parentheses since the `in` of the list that is being read; nil outside a list.
    private(set) var listNesting: Int?

    /// All tokens of a text; the last one is `.end`.
    static func tokens(
        _ text: String, option: String, generation: Generation
    ) throws(ODataError) -> [Token] {
        var lexer = Lexer(option: option, text: text, generation: generation)
        guard lexer.bytes.count <= Limits.optionBytes else {
            throw lexer.error(
                "The expression is longer than \(Limits.optionBytes) bytes",
                at: Limits.optionBytes)
        }
        while try lexer.next() {}
        return lexer.tokens
    }

    private init(option: String, text: String, generation: Generation) {
        self.option = option
        self.generation = generation
        bytes = Array(text.utf8)
    }

    func error(_ reason: String, at position: Int) -> ODataError {
        ODataError(option: option, reason: reason, position: position)
    }

    /// The byte at a distance from the position; nil after the end.
    func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Reads one token; false after the last one.
    private mutating func next() throws(ODataError) -> Bool {
        while let byte = peek(), byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
        let start = position
        guard let byte = peek() else {
            tokens.append(Token(kind: .end, position: start))
            return false
        }
        switch byte {
        case UInt8(ascii: "("): punctuation(.open)
        case UInt8(ascii: ")"): punctuation(.close)
        case UInt8(ascii: ","): punctuation(.comma)
        case UInt8(ascii: ":"): punctuation(.colon)
        case UInt8(ascii: "/"): punctuation(.slash)
        case UInt8(ascii: "-"): punctuation(.minus)
        case UInt8(ascii: "'"): literal(.string(try quoted()), start)
        case let byte where Self.isDigit(byte): literal(try digits(), start)
        case let byte where Self.startsIdentifier(byte) || byte == UInt8(ascii: "$"): try word()
        default:
            throw error("Unexpected character '\(character(at: start))'", at: start)
        }
        return true
    }

    private mutating func punctuation(_ kind: Token.Kind) {
        if kind == .open {
            let isList = listNesting == nil && followsIn
            listNesting = isList ? 1 : listNesting.map { $0 + 1 }
        } else if kind == .close {
            listNesting = listNesting.flatMap { $0 > 1 ? $0 - 1 : nil }
        }
        tokens.append(Token(kind: kind, position: position))
        position += 1
    }

    /// Whether the last two tokens are an operand and `in`.
    private var followsIn: Bool {
        guard case .identifier(let word)? = tokens.last?.kind, word.lowercased() == "in" else {
            return false
        }
        switch tokens.dropLast().last?.kind {
        case .identifier, .literal, .close: return true
        case .open, .comma, .colon, .slash, .minus, .end, nil: return false
        }
    }

    private mutating func literal(_ literal: Expression.Literal, _ start: Int) {
        tokens.append(Token(kind: .literal(literal), position: start))
    }

    /// An identifier, a bare GUID, or a constant with a prefix such as `guid'…'`.
    private mutating func word() throws(ODataError) {
        let start = position
        if let guid = bareGUID() {
            literal(.guid(guid), start)
            return
        }
        position += 1
        while let byte = peek(), Self.continuesIdentifier(byte) { position += 1 }
        let name = text(start..<position)
        if peek() == UInt8(ascii: "'") {
            literal(try prefixed(name, from: start), start)
        } else {
            tokens.append(Token(kind: .identifier(name), position: start))
        }
    }

    private func character(at position: Int) -> Character {
        String(decoding: bytes[position...].prefix(16), as: UTF8.self).first ?? "?"
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func startsIdentifier(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "@") || byte >= 0x80
    }

    /// A full stop is part of `Edm.Guid`. The parser refuses it in column names.
    static func continuesIdentifier(_ byte: UInt8) -> Bool {
        startsIdentifier(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }
}

struct Token: Equatable {
    enum Kind: Equatable {
        case identifier(String)
        case literal(Expression.Literal)
        case open, close, comma, colon, slash, minus
        case end
    }

    let kind: Kind
    /// The byte offset in the option's decoded value.
    let position: Int

    /// The token's name in an error.
    var name: String {
        switch kind {
        case .identifier(let name): "'\(name)'"
        case .literal: "a constant"
        case .open: "'('"
        case .close: "')'"
        case .comma: "','"
        case .colon: "':'"
        case .slash: "'/'"
        case .minus: "'-'"
        case .end: "the end"
        }
    }
}

extension Lexer {
    /// A text in quotes, in which `''` is one quote.
    ///
    /// In a list, a quote ends the text only before `,` or `)`: the Community Toolkit's client does not
    /// double the quotes inside `in (…)`.
    mutating func quoted() throws(ODataError) -> String {
        let start = position
        var content: [UInt8] = []
        position += 1
        while let byte = peek() {
            position += 1
            guard byte == UInt8(ascii: "'") else {
                content.append(byte)
                continue
            }
            if peek() == UInt8(ascii: "'") {
                position += 1
            } else if listNesting == nil || endsListElement {
                return String(decoding: content, as: UTF8.self)
            }
            content.append(byte)
        }
        throw error("Unterminated string", at: start)
    }

    private var endsListElement: Bool {
        var distance = 0
        while peek(distance) == 0x20 { distance += 1 }
        switch peek(distance) {
        case UInt8(ascii: ","), UInt8(ascii: ")"), nil: return true
        case _?: return false
        }
    }

    /// The constant after a prefix that was just read: `datetime'…'`, `guid'…'`, `X'…'`.
    mutating func prefixed(_ prefix: String, from start: Int) throws(ODataError)
        -> Expression.Literal
    {
        let content = try quoted()
        let literal: Expression.Literal?
        switch prefix.lowercased() {
        case "datetime": literal = Self.instant(content, .dateTime).map { .instant($0) }
        case "datetimeoffset":
            literal = Self.instant(content, .dateTimeOffset).map { .instant($0) }
        case "guid": literal = Self.isGUID(content.utf8) ? .guid(content) : nil
        case "x": literal = Base16.decoded(content).map { .binary($0) }
        case "binary":
            let bytes =
                generation == .datasync ? Base64.decoded(content) : Base16.decoded(content)
            literal = bytes.map { .binary($0) }
        case let name where name.contains("."):
            // A member of an enumeration. JSON stores its name.
            literal = .string(content)
        default:
            throw ODataError(
                option: option, reason: "Unknown kind of constant '\(prefix)'", position: start,
                isUnsupported: true)
        }
        guard let literal else {
            throw error("'\(content)' is not a valid \(prefix.lowercased())", at: start)
        }
        return literal
    }

    /// A date. If the plus sign of its offset was not encoded and became a space, it is restored.
    static func instant(_ text: String, _ form: InstantLiteral.Form) -> InstantLiteral? {
        if let literal = InstantLiteral(text, form: form) { return literal }
        guard let space = text.lastIndex(of: " ") else { return nil }
        return InstantLiteral("\(text[..<space])+\(text[space...].dropFirst())", form: form)
    }

    /// Reads a bare GUID; nil if there is none at the position.
    mutating func bareGUID() -> String? {
        let end = position + 36
        guard peek(8) == UInt8(ascii: "-"), end <= bytes.count, Self.isGUID(bytes[position..<end])
        else { return nil }
        if end < bytes.count, Self.continuesIdentifier(bytes[end]) { return nil }
        defer { position = end }
        return text(position..<end)
    }

    static func isGUID(_ text: some Collection<UInt8>) -> Bool {
        text.count == 36
            && text.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : Base16.value(byte) != nil
            }
    }

    /// A constant that begins with a digit: a bare GUID, date, time or number, or a byte as two hexadecimal
    /// digits.
    mutating func digits() throws(ODataError) -> Expression.Literal {
        if let guid = bareGUID() { return .guid(guid) }
        let start = position
        if matches("dddd-dd-dd") { return try bareDate() }
        if matches("dd:dd") {
            let text = take {
                Self.isDigit($0) || [UInt8(ascii: ":"), UInt8(ascii: ".")].contains($0)
            }
            guard let time = TimeLiteral(text) else {
                throw error("'\(text)' is not a valid time", at: start)
            }
            return .time(time)
        }
        let word = take { Self.continuesIdentifier($0) }
        // The plus sign of an exponent is not part of an identifier. None follows a byte such as `1E`.
        if word.utf8.last.map({ $0 | 0x20 }) == UInt8(ascii: "e"), peek() == UInt8(ascii: "+") {
            position += 1
            _ = take { Self.continuesIdentifier($0) }
        }
        let text = text(start..<position)
        guard peek() != UInt8(ascii: "'"), let number = Self.number(text) else {
            throw error("'\(text)' is not a valid number", at: start)
        }
        return .number(number)
    }

    private mutating func bareDate() throws(ODataError) -> Expression.Literal {
        let start = position
        let text = take {
            Self.isDigit($0) || Self.isLetter($0) || "-:.+".utf8.contains($0)
        }
        if let date = DateLiteral(text) { return .date(date) }
        guard let instant = InstantLiteral(text) else {
            throw error("'\(text)' is not a valid date", at: start)
        }
        return .instant(instant)
    }

    /// Whether the bytes at the position have this shape, in which `d` is any digit.
    private func matches(_ shape: StaticString) -> Bool {
        for (distance, expected) in shape.description.utf8.enumerated() {
            guard let byte = peek(distance),
                expected == UInt8(ascii: "d") ? Self.isDigit(byte) : byte == expected
            else { return false }
        }
        return true
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = peek(), belongs(byte) { position += 1 }
        return text(start..<position)
    }

    /// A number with its suffix: `42`, `42L`, `1.5f`, `1.5E-3`, `42M`. `2A` is a byte, as the managed SDKs
    /// of the first two generations write it.
    static func number(_ text: String) -> NumberLiteral? {
        if let byte = hexadecimalByte(text) { return NumberLiteral(Int64(byte)) }
        let (digits, kind) = suffixed(text)
        var scanner = digits.utf8[...]
        guard takeDigits(&scanner) else { return nil }
        var isWhole = true
        if scanner.first == UInt8(ascii: ".") {
            isWhole = false
            scanner.removeFirst()
            guard takeDigits(&scanner) else { return nil }
        }
        if scanner.first.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            isWhole = false
            scanner.removeFirst()
            if let sign = scanner.first, "+-".utf8.contains(sign) { scanner.removeFirst() }
            guard takeDigits(&scanner) else { return nil }
        }
        guard scanner.isEmpty, isWhole || kind != .long else { return nil }
        return NumberLiteral(text: String(digits), kind: kind)
    }

    private static func suffixed(_ text: String) -> (Substring, NumberLiteral.Kind) {
        let kind: NumberLiteral.Kind
        switch text.utf8.last.map({ $0 | 0x20 }) {
        case UInt8(ascii: "l"): kind = .long
        case UInt8(ascii: "f"): kind = .single
        case UInt8(ascii: "d"): kind = .double
        case UInt8(ascii: "m"): kind = .decimal
        default: return (text[...], .plain)
        }
        return (text.dropLast(), kind)
    }

    private static func hexadecimalByte(_ text: String) -> UInt8? {
        guard text.utf8.count == 2, let last = text.utf8.last,
            "ABCE".utf8.contains(last)
        else { return nil }
        return Base16.decoded(text)?.first
    }

    private static func takeDigits(_ text: inout Substring.UTF8View) -> Bool {
        let count = text.prefix(while: isDigit).count
        text.removeFirst(count)
        return count > 0
    }
}
