extension [UInt8] {
    /// Appends a string in quotes, only what must be escaped escaped.
    package mutating func appendJSONString(_ text: String) {
        append(UInt8(ascii: "\""))
        if Self.needsEscapes(text) { appendEscaped(text) } else { append(contentsOf: text.utf8) }
        append(UInt8(ascii: "\""))
    }

    /// Appends the text that `append` appends as a string in quotes.
    mutating func appendJSONString(writtenBy append: (inout [UInt8]) -> Void) {
        self.append(UInt8(ascii: "\""))
        let start = count
        append(&self)
        let needsEscapes = self[start...].contains {
            $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
        }
        if needsEscapes {
            let text = String(decoding: self[start...], as: UTF8.self)
            removeSubrange(start...)
            appendEscaped(text)
        }
        self.append(UInt8(ascii: "\""))
    }

    private static func needsEscapes(_ text: String) -> Bool {
        for byte in text.utf8
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            return true
        }
        return false
    }

    private mutating func appendEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0x0A: self += "\\n".utf8
            case 0x0D: self += "\\r".utf8
            case 0x09: self += "\\t".utf8
            case 0..<0x20:
                self += (byte < 0x10 ? "\\u000" : "\\u00").utf8
                self += String(byte, radix: 16).utf8
            default: append(byte)
            }
        }
    }
}
