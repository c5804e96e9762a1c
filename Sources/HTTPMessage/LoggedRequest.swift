/// The path of a request for the log, without secrets and without values of rows.
package struct LoggedPath: Sendable, Hashable {
    /// The path in visible ASCII characters; `*` replaces what is left out.
    package let text: String

    /// The most characters.
    package static let characters = 200

    /// Makes it from a raw target.
    ///
    /// 1. The query is left out: it has values of rows, and in requests that are passed through codes and
    ///    tokens.
    /// 2. The secret of a capability address is left out, in any spelling of the address, and wherever else
    ///    it is in the path.
    /// 3. A path below `/-/` stays as it is. Its segments name tables, operations and runs.
    /// 4. Below `/tables` the table's name stays; an id is part of a row. Below `/api` and the other known
    ///    paths of backends the next segment stays. Of any other path the first segment stays: the rest may
    ///    be a code or a token of the backend.
    /// 5. Bytes that are not visible ASCII characters are percent-encoded, so that none controls a
    ///    terminal. A long path is cut.
    package init(target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let raw = path.split(separator: UInt8(ascii: "/"))
        var segments = raw.map { Self.visible($0) }
        let root = Self.root(raw.first ?? Substring().utf8)
        var shown = ""
        var secret: String?
        if root == TargetPath.secretRoot {
            shown = "/\(TargetPath.secretRoot)"
            if segments.count > 1 {
                shown += "/*"
                secret = segments[1]
            }
            segments.removeFirst(min(2, segments.count))
        }
        let kept = Self.kept(segments, followsSecret: root == TargetPath.secretRoot)
        for segment in kept {
            let isSecret = secret.map { segment.utf8.firstRange(of: $0.utf8) != nil } ?? false
            shown += isSecret ? "/*" : "/\(segment)"
        }
        if kept.count < segments.count { shown += "/*" }
        text = shown.isEmpty ? "/" : String(shown.prefix(Self.characters))
    }

    private static func kept(
        _ segments: [String], followsSecret: Bool
    ) -> ArraySlice<String> {
        switch segments.first?.lowercased() {
        case "-": segments[...]
        case "tables", "api", ".auth", "login", "push": segments.prefix(2)
        case nil: []
        // In an invalid capability address this segment may be the secret.
        default: followsSecret ? [] : segments.prefix(1)
        }
    }

    /// The ``TargetPath/root`` of the first segment.
    private static func root(_ segment: Substring.UTF8View) -> String? {
        PercentCoding.decode(Substring(segment)).map { TargetPath.root(of: $0) }
    }

    private static func visible(_ segment: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        for byte in segment {
            if (0x21...0x7E).contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                if byte < 16 { bytes.append(UInt8(ascii: "0")) }
                bytes += String(byte, radix: 16).utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The header field `traceparent` (W3C Trace Context, section 3.2), `00-TRACE-PARENT-FLAGS` in lower case
/// hexadecimal digits.
package struct TraceParent: Sendable, Hashable {
    /// The id of the whole trace, 32 digits.
    package let traceID: String

    /// Reads a field; nil if it is invalid, or if one of its ids has only zeros.
    package init?(_ field: String) {
        let parts = field.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isHex(parts[0], digits: 2), parts[0] != "ff",
            Self.isHex(parts[1], digits: 32), Self.isHex(parts[2], digits: 16),
            Self.isHex(parts[3], digits: 2), parts.count == 4 || parts[0] != "00",
            [parts[1], parts[2]].allSatisfy({ $0.contains { $0 != "0" } })
        else { return nil }
        traceID = String(parts[1])
    }

    private static func isHex(_ text: Substring, digits: Int) -> Bool {
        text.utf8.count == digits
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
