extension Substring {
    /// The parts of a header field's value between two `separator` bytes, each without the spaces and
    /// tabs at its ends; empty parts are left out.
    ///
    /// The value is split by bytes. By characters, a scalar that joins with the next one, such as U+0600
    /// before a semicolon, would hide the separator.
    public func pieces(separatedBy separator: UInt8) -> [Substring] {
        var pieces: [Substring] = []
        for part in utf8.split(separator: separator) {
            var (start, end) = (part.startIndex, part.endIndex)
            while start < end, Self.isBlank(utf8[start]) { start = utf8.index(after: start) }
            while start < end, Self.isBlank(utf8[utf8.index(before: end)]) {
                end = utf8.index(before: end)
            }
            if start < end { pieces.append(self[start..<end]) }
        }
        return pieces
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
