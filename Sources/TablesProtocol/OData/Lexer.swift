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

    /// A full stop is part of `Edm.Guid` and `geo.distance`. The parser refuses it in column names.
    static func continuesIdentifier(_ byte: UInt8) -> Bool {
        startsIdentifier(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }
}

/// One token of an expression.
struct Token: Equatable {
    /// The kind of a token.
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
