extension JSONScanner {
    /// Whether the text is exactly one JSON number.
    static func isNumber(_ text: String) -> Bool {
        var scanner = JSONScanner()
        let bytes = Array(text.utf8)
        guard (try? scanner.skipNumber(bytes.span)) != nil else { return false }
        return scanner.position == bytes.count
    }

    /// Passes a number.
    mutating func skipNumber(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        if try peek(bytes) == UInt8(ascii: "-") { position += 1 }
        let first = position
        guard skipDigits(bytes) > 0 else {
            guard position > start else {
                throw JSONError(.unexpectedByte(bytes[position]), at: position)
            }
            throw JSONError(.badNumber, at: start)
        }
        if bytes[first] == UInt8(ascii: "0"), position - first > 1 {
            throw JSONError(.badNumber, at: start)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            guard skipDigits(bytes) > 0 else { throw JSONError(.badNumber, at: start) }
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, [0x2B, 0x2D].contains(bytes[position]) { position += 1 }
            guard skipDigits(bytes) > 0 else { throw JSONError(.badNumber, at: start) }
        }
    }

    /// Passes a string with its quotes. True when it holds an escape.
    @discardableResult
    mutating func skipString(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard try peek(bytes) == UInt8(ascii: "\"") else {
            throw JSONError(.unexpectedByte(bytes[position]), at: position)
        }
        position += 1
        var hasEscape = false
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return hasEscape
            case UInt8(ascii: "\\"):
                hasEscape = true
                _ = try escape(bytes)
            case 0..<0x20: throw JSONError(.controlCharacter, at: position)
            default: position += 1
            }
        }
        throw JSONError(.unexpectedEnd, at: position)
    }

    /// Passes an escape, both halves of a surrogate pair at once, and gives the character.
    mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        let letter = try peek(bytes)
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw JSONError(.badEscape, at: start)
        }
        let unit = try hexUnit(bytes, start)
        if let scalar = Unicode.Scalar(UInt32(unit)) { return scalar }
        // 1. Only a high half may come first. 2. An escaped low half must follow at once.
        guard UTF16.isLeadSurrogate(unit), position + 1 < bytes.count,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: start) }
        position += 2
        let low = try hexUnit(bytes, start)
        guard UTF16.isTrailSurrogate(low) else { throw JSONError(.loneSurrogate, at: start) }
        let value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private mutating func hexUnit(
        _ bytes: Span<UInt8>, _ start: Int
    ) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let byte = try peek(bytes)
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw JSONError(.badEscape, at: start)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func skipDigits(_ bytes: Span<UInt8>) -> Int {
        let start = position
        while position < bytes.count,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
        {
            position += 1
        }
        return position - start
    }
}
