/// Splits a JSON array or object into the bytes of its parts, by brackets and quotes alone.
///
/// An invalid part (nested too deep, half a surrogate pair, a duplicate name) does not affect the others.
/// Each part is validated when it is parsed.
public enum JSONCutter {
    /// The elements of an array.
    /// - Returns: nil if the bytes are not exactly one array.
    public static func elements(ofArray bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        parts(of: bytes, from: "[", to: "]")
    }

    /// The members of an object in order; a name may appear twice. A member whose name cannot be read is
    /// left out: it does not hide the others.
    /// - Returns: nil if the bytes are not exactly one object, or if a member has no name.
    public static func members(
        ofObject bytes: ArraySlice<UInt8>
    ) -> [(name: String, value: ArraySlice<UInt8>)]? {
        guard let parts = parts(of: bytes, from: "{", to: "}") else { return nil }
        var members: [(name: String, value: ArraySlice<UInt8>)] = []
        for part in parts {
            guard let end = endOfString(part),
                let colon = part[end...].firstIndex(where: isNoSpace),
                part[colon] == UInt8(ascii: ":")
            else { return nil }
            guard let name = (try? JSONText(validating: Array(part[..<end])))?.string else {
                continue
            }
            members.append((name, trimmed(part[(colon + 1)...])))
        }
        return members
    }

    /// 1. The first and last bytes that are not white space are the brackets.
    /// 2. A comma outside strings and inner brackets ends a part.
    /// 3. Brackets are counted; each must be closed.
    private static func parts(
        of bytes: ArraySlice<UInt8>, from opening: Unicode.Scalar, to closing: Unicode.Scalar
    ) -> [ArraySlice<UInt8>]? {
        let whole = trimmed(bytes)
        guard whole.count >= 2, whole.first == UInt8(ascii: opening),
            whole.last == UInt8(ascii: closing)
        else { return nil }
        let inner = whole.dropFirst().dropLast()
        var parts: [ArraySlice<UInt8>] = []
        var start = inner.startIndex
        var position = inner.startIndex
        var depth = 0
        while position < inner.endIndex {
            switch inner[position] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(inner[position...]) else { return nil }
                position = end
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                parts.append(trimmed(inner[start..<position]))
                start = position + 1
            default: break
            }
            if depth < 0 { return nil }
            position += 1
        }
        guard depth == 0 else { return nil }
        let last = trimmed(inner[start...])
        if parts.isEmpty, last.isEmpty { return [] }
        parts.append(last)
        return parts.contains(where: \.isEmpty) ? nil : parts
    }

    /// The position after the string at the beginning of the bytes; nil if there is none or it does not
    /// end.
    private static func endOfString(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        var position = bytes.startIndex + 1
        while position < bytes.endIndex {
            switch bytes[position] {
            case UInt8(ascii: "\""): return position + 1
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return nil
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = bytes.firstIndex(where: isNoSpace),
            let last = bytes.lastIndex(where: isNoSpace)
        else { return bytes.prefix(0) }
        return bytes[first...last]
    }

    private static func isNoSpace(_ byte: UInt8) -> Bool {
        byte != 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D
    }
}
