extension JSONValue {
    /// The value as JSON text without white space.
    public var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += Array("null".utf8)
        case .bool(let value): bytes += Array((value ? "true" : "false").utf8)
        case .number(let number): bytes += Array(number.text.utf8)
        case .string(let text): bytes.appendJSONString(text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSONString(member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension [UInt8] {
    /// Appends a string in quotes, with the escapes that JSON requires.
    package mutating func appendJSONString(_ text: String) {
        append(UInt8(ascii: "\""))
        if Self.needsEscapes(text) { appendEscaped(text) } else { append(contentsOf: text.utf8) }
        append(UInt8(ascii: "\""))
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
