/// Scans JSON text by the rules of RFC 8259 without building values.
///
/// Each call gets the bytes, so that the scanner borrows them and copies none.
struct JSONScanner {
    /// The position of the next byte.
    var position = 0
    private var depth = 0
    private let maxDepth: Int

    /// Begins at a position.
    /// - Parameter maxDepth: the deepest nesting, in levels.
    init(at position: Int = 0, maxDepth: Int = Limits.jsonDepth) {
        self.position = position
        self.maxDepth = maxDepth
    }

    /// Skips white space and one value, checking its names and strings.
    mutating func skipValue(_ bytes: Span<UInt8>) throws(JSONError) {
        skipSpace(bytes)
        switch try peek(bytes) {
        case UInt8(ascii: "{"): try skipObject(bytes)
        case UInt8(ascii: "["): try skipArray(bytes)
        case UInt8(ascii: "\""): try skipString(bytes)
        case UInt8(ascii: "t"): try skipWord("true", bytes)
        case UInt8(ascii: "f"): try skipWord("false", bytes)
        case UInt8(ascii: "n"): try skipWord("null", bytes)
        default: try skipNumber(bytes)
        }
    }

    mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// The byte at the position, which stays.
    func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    /// Skips white space and this byte; false if another byte follows.
    mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        skipSpace(bytes)
        guard try peek(bytes) == byte else { return false }
        position += 1
        return true
    }

    /// Skips white space and this byte.
    /// - Throws: ``JSONError`` if another byte follows.
    mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
        guard try take(byte, bytes) else {
            throw JSONError(.unexpectedByte(bytes[position]), at: position)
        }
    }

    /// Checks that only white space is left.
    mutating func expectEnd(_ bytes: Span<UInt8>) throws(JSONError) {
        skipSpace(bytes)
        if position < bytes.count { throw JSONError(.trailingBytes, at: position) }
    }

    /// Enters an array or object.
    /// - Throws: ``JSONError`` if it is nested too deep.
    mutating func enter() throws(JSONError) {
        depth += 1
        if depth > maxDepth { throw JSONError(.tooDeep(limit: maxDepth), at: position) }
    }

    mutating func leave() { depth -= 1 }

    private mutating func skipObject(_ bytes: Span<UInt8>) throws(JSONError) {
        try enter()
        position += 1
        if try !take(UInt8(ascii: "}"), bytes) {
            repeat {
                skipSpace(bytes)
                try skipString(bytes)
                try expect(UInt8(ascii: ":"), bytes)
                try skipValue(bytes)
            } while try take(UInt8(ascii: ","), bytes)
            try expect(UInt8(ascii: "}"), bytes)
        }
        leave()
    }

    private mutating func skipArray(_ bytes: Span<UInt8>) throws(JSONError) {
        try enter()
        position += 1
        if try !take(UInt8(ascii: "]"), bytes) {
            repeat { try skipValue(bytes) } while try take(UInt8(ascii: ","), bytes)
            try expect(UInt8(ascii: "]"), bytes)
        }
        leave()
    }

    private mutating func skipWord(
        _ word: StaticString, _ bytes: Span<UInt8>
    ) throws(JSONError) {
        for wanted in word.description.utf8 {
            guard try peek(bytes) == wanted else {
                throw JSONError(.unexpectedByte(bytes[position]), at: position)
            }
            position += 1
        }
    }
}

extension JSONScanner {
    /// Whether the text is exactly one JSON number.
    static func isNumber(_ text: String) -> Bool {
        var scanner = JSONScanner()
        let bytes = Array(text.utf8)
        guard (try? scanner.skipNumber(bytes.span)) != nil else { return false }
        return scanner.position == bytes.count
    }

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

    /// Skips a string with its quotes.
    /// - Returns: whether it contains an escape.
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

    /// Skips an escape, or a surrogate pair of two escapes.
    /// - Returns: its character.
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
        // Only a lead surrogate may come first, and an escaped trail surrogate must follow at once.
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

    /// The range of the only value in the bytes. Checks the size, the byte order mark and trailing bytes.
    static func onlyValue(in bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        var scanner = JSONScanner()
        try scanner.start(bytes)
        scanner.skipSpace(bytes)
        let start = scanner.position
        try scanner.skipValue(bytes)
        let end = scanner.position
        try scanner.expectEnd(bytes)
        return start..<end
    }

    /// Checks the size of the text, and that it has no byte order mark.
    mutating func start(_ bytes: Span<UInt8>) throws(JSONError) {
        if bytes.count > Limits.jsonBytes {
            throw JSONError(.tooLarge(limitBytes: Limits.jsonBytes), at: Limits.jsonBytes)
        }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            throw JSONError(.byteOrderMark, at: 0)
        }
    }

    /// The bytes of a range as text.
    static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONError) -> String {
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch { throw JSONError(.badUTF8, at: range.lowerBound + error.byteOffsets.lowerBound) }
    }

    /// Skips a string.
    /// - Returns: its text with escapes resolved.
    mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        let start = position
        let hasEscape = try skipString(bytes)
        let inner = start + 1..<position - 1
        guard hasEscape else { return try Self.text(bytes, inner) }
        var unescaped: [UInt8] = []
        unescaped.reserveCapacity(inner.count)
        var reader = JSONScanner(at: inner.lowerBound)
        while reader.position < inner.upperBound {
            let byte = bytes[reader.position]
            if byte == UInt8(ascii: "\\") {
                unescaped += String(try reader.escape(bytes)).utf8
            } else {
                unescaped.append(byte)
                reader.position += 1
            }
        }
        guard let text = try? Self.text(unescaped.span, 0..<unescaped.count) else {
            throw JSONError(.badUTF8, at: start)
        }
        return text
    }
}

extension JSONScanner {
    /// Reads an object as columns in one pass, without building a tree.
    /// - Throws: ``JSONError``, also if the value is no object or a name appears twice in it.
    mutating func columns(_ bytes: Span<UInt8>) throws(JSONError) -> [Columns.Column] {
        guard try take(UInt8(ascii: "{"), bytes) else {
            throw JSONError(.notAnObject, at: position)
        }
        try enter()
        var columns: [Columns.Column] = []
        columns.reserveCapacity(8)
        var places = NameTable()
        if try !take(UInt8(ascii: "}"), bytes) {
            repeat {
                skipSpace(bytes)
                let start = position
                let name = try string(bytes)
                guard places.insert(name) == nil else {
                    throw JSONError(.duplicateName(name), at: start)
                }
                try expect(UInt8(ascii: ":"), bytes)
                skipSpace(bytes)
                let value = position
                try skipValue(bytes)
                let text = try Self.text(bytes, value..<position)
                columns.append(Columns.Column(name, JSONText(trusted: text)))
            } while try take(UInt8(ascii: ","), bytes)
            try expect(UInt8(ascii: "}"), bytes)
        }
        leave()
        return columns
    }
}

/// Goes through the members of an object in the text that ``Columns/text`` gave, without checking it or making
/// values. Of other text it gives the members up to where the text differs.
struct MemberScanner {
    struct Member {
        /// Where the name stands, between its quotes.
        let name: Range<Int>
        /// Whether the name contains an escape.
        let hasEscape: Bool

        /// The name with its escapes resolved; nil for an invalid one.
        func decodedName(in bytes: Span<UInt8>) -> String? {
            var scanner = JSONScanner(at: name.lowerBound - 1)
            return try? scanner.string(bytes)
        }
    }

    /// The position of the bracket or comma before the next member.
    private var position: Int

    /// Begins at the bracket or comma before the first member.
    init(at position: Int) { self.position = position }

    /// The next member; nil at the end.
    mutating func next(_ bytes: Span<UInt8>) -> Member? {
        let start = position + 2
        guard start < bytes.count, bytes[start - 1] == UInt8(ascii: "\"") else { return nil }
        position += 1
        let hasEscape = skipString(bytes)
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { return nil }
        let end = position - 1
        skipValue(bytes)
        return Member(name: start..<end, hasEscape: hasEscape)
    }

    /// Moves behind a string.
    /// - Returns: whether it contains an escape.
    @discardableResult
    private mutating func skipString(_ bytes: Span<UInt8>) -> Bool {
        var hasEscape = false
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return hasEscape
            case UInt8(ascii: "\\"):
                hasEscape = true
                position += 2
            default: position += 1
            }
        }
        return hasEscape
    }

    /// Moves to the comma or bracket behind a value, or to the end of the bytes.
    private mutating func skipValue(_ bytes: Span<UInt8>) {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                skipString(bytes)
                continue
            case UInt8(ascii: ",") where depth == 0: return
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return }
                depth -= 1
            default: break
            }
            position += 1
        }
    }
}
