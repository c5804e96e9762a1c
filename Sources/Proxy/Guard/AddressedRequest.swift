import HTTPMessage
import HTTPTypes

/// A request with the secret of its capability address taken off its target, if there was one.
struct AddressedRequest: Sendable {
    /// The request as it would be at the plain address.
    let request: Request
    /// The secret; nil for the plain address.
    let secret: String?

    /// Takes `/c/SECRET` off the target, however its first segment is spelled: `/C/SECRET` and
    /// `/%63/SECRET` hold the same secret, which goes to no backend. `/C/style.css` has none, and is the
    /// backend's. What cannot be read has none either; ``TargetPath`` refuses it.
    init(_ request: Request) {
        let target = request.head.path ?? "/"
        guard let mark = Self.mark(of: target[...], path: request.path) else {
            self.request = request
            secret = nil
            return
        }
        let behind = target.utf8[mark...]
        let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let raw = behind.prefix { !isEnd($0) }
        let rest = behind[raw.endIndex...]
        var plain = request
        plain.head.path =
            rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : "/\(Substring(rest))"
        self.request = plain
        secret = String(Substring(raw))
        base = String(target[..<raw.endIndex])
    }

    /// The path of the address, which stands before every path that is asked for there; empty for the
    /// plain address.
    private(set) var base = ""

    /// The segment before the secret.
    static let mark = "c"

    /// Where the secret begins in a raw target; nil for a target without one.
    private static func mark(of target: Substring, path: Substring) -> Substring.Index? {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else { return nil }
        let first = path.utf8.dropFirst().prefix { $0 != slash }
        guard let segment = try? TargetPath.firstSegment(Substring(first)),
            TargetPath.root(of: segment) == mark,
            Capability.mayHoldSecret(path) || leadsToOwnPath(target)
        else { return nil }
        return first.endIndex < path.endIndex
            ? path.utf8.index(after: first.endIndex) : path.endIndex
    }

    /// Whether a target whose first segment is ``mark`` is a capability address, though a wrong one: what
    /// follows its second segment is one of Understudy's own paths. A `?` in the second segment belongs to
    /// the guess.
    private static func leadsToOwnPath(_ target: Substring) -> Bool {
        let segments = target.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
        guard segments.count > 3 else { return false }
        let third = String(decoding: PercentCoding.decodeLeniently(segments[3]), as: UTF8.self)
        return TargetPath.own.contains(TargetPath.root(of: third))
    }
}
