import HTTPTypes
import SyncCore

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

extension Trace {
    /// The trace in a client's fields. `tracestate` belongs to a valid `traceparent` alone; without one it is
    /// left out (section 4.3).
    init?(_ fields: HTTPFields) {
        guard let parent = fields[.traceparent] else { return nil }
        let state = TraceParent(parent) == nil ? nil : fields[.tracestate]
        self.init(parent: parent, state: state.flatMap { Self.cut($0) })
    }

    /// The first members of the list that fit in ``Limits/traceStateBytes``, each whole; nil if none fits.
    private static func cut(_ state: String) -> String? {
        if state.utf8.count <= Limits.traceStateBytes { return state.isEmpty ? nil : state }
        let members = state.split(separator: ",")
        var kept = members.prefix(0)
        var bytes = -1
        for member in members {
            bytes += member.utf8.count + 1
            if bytes > Limits.traceStateBytes { break }
            kept = members.prefix(kept.count + 1)
        }
        return kept.isEmpty ? nil : kept.joined(separator: ",")
    }
}
