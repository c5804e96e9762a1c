/// What a client says of the trace that its request belongs to: the header field `traceparent` (W3C
/// Trace Context, section 3.2), `00-TRACE-PARENT-FLAGS` in lower case hexadecimal digits.
package struct TraceParent: Sendable, Hashable {
    /// The id of the whole trace, 32 digits.
    package let traceID: String

    /// Reads a field; nil when it is none, or one of zeros, which says nothing.
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
