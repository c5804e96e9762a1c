extension JSONScanner {
    /// The range of the only value in the bytes, checked for size, byte order mark and anything
    /// that follows.
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

    /// Checks what holds for a whole text: its size, and no byte order mark.
    mutating func start(_ bytes: Span<UInt8>) throws(JSONError) {
        if bytes.count > Limits.jsonBytes {
            throw JSONError(.tooLarge(limitBytes: Limits.jsonBytes), at: Limits.jsonBytes)
        }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            throw JSONError(.byteOrderMark, at: 0)
        }
    }

    /// The bytes of the range as text.
    static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(JSONError) -> String {
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch { throw JSONError(.badUTF8, at: range.lowerBound + error.byteOffsets.lowerBound) }
    }

    /// Passes a string and gives its text with escapes resolved.
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
