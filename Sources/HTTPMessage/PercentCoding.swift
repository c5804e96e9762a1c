/// Percent-encoding of request targets (RFC 3986), for paths and query values.
public enum PercentCoding {
    /// Decodes `%xx` once; nil when an escape is broken or the bytes are not UTF-8.
    /// - Parameters:
    ///   - plusIsSpace: true for query values (the form rule); in a path `+` is a plus sign.
    ///   - allowsNUL: whether `%00` is allowed; it is not in the path of a table.
    public static func decode(
        _ text: Substring, plusIsSpace: Bool = false, allowsNUL: Bool = true
    ) -> String? {
        let isPlain = !text.utf8.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        if isPlain { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(value),
                    let low = rest.popFirst().flatMap(value), allowsNUL || high | low != 0
                else { return nil }
                bytes.append(high << 4 | low)
            } else if plusIsSpace, byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Decodes `%xx` once to any bytes; a broken escape stays as it is. This is how a server reads a target
    /// that takes it as bytes, or that decodes it once more.
    public static func decodeLeniently(
        _ bytes: some Sequence<UInt8>, plusIsSpace: Bool = false
    ) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count > 1, let high = value(rest[rest.startIndex]),
                let low = value(rest[rest.startIndex + 1])
            {
                rest.removeFirst(2)
                decoded.append(high << 4 | low)
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return decoded
    }

    /// The same as text: bytes that are not UTF-8 become replacement characters.
    public static func decodeLeniently(_ text: Substring, plusIsSpace: Bool = false) -> String {
        String(decoding: decodeLeniently(text.utf8, plusIsSpace: plusIsSpace), as: UTF8.self)
    }

    /// Whether every `%` begins an escape.
    public static func isWellFormed(_ text: Substring) -> Bool {
        var rest = text.utf8[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[rest.index(after: mark)...]
            guard rest.popFirst().flatMap(value) != nil, rest.popFirst().flatMap(value) != nil
            else {
                return false
            }
        }
        return true
    }

    /// The text with every byte encoded that RFC 3986 does not leave unreserved.
    /// - Parameter leaving: further ASCII characters that are not encoded.
    public static func encode(_ text: String, leaving: String = "") -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || leaving.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether RFC 3986 leaves a byte unreserved: ASCII letters and digits, `-`, `.`, `_` and `~`.
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
