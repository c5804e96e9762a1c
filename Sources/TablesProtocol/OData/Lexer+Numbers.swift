extension Lexer {
    /// A number with its suffix: `42`, `42L`, `1.5f`, `1.5E-3`, `42M`; and `2A`, a byte as the
    /// managed SDKs of the first two generations write it.
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
