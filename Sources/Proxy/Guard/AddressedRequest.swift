import HTTPMessage
import HTTPTypes
import TablesProtocol

/// A request whose capability address, if it has one, is separated from its target.
struct AddressedRequest: Sendable {
    /// The request as it would be without a capability address.
    let request: Request
    /// The secret of the capability address; nil without one.
    let secret: String?
    /// The path of the capability address, `/c/SECRET` as it was written; empty without one.
    private(set) var base = ""

    /// The first segment of a capability address.
    static let pathPrefix = "c"

    /// Removes `/c/SECRET` from the target, in any spelling of the first segment. `/C/SECRET` and
    /// `/%63/SECRET` have the same secret, which must reach no backend. `/C/style.css` has no secret, and
    /// is a path of the backend. A target that cannot be decoded has none; ``TargetPath`` refuses it.
    init(_ request: Request) {
        let target = request.head.path ?? "/"
        guard let start = Self.secretStart(in: target[...], path: request.path) else {
            self.request = request
            secret = nil
            return
        }
        let behind = target.utf8[start...]
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

    /// Where the secret begins in a raw target; nil for a target without one.
    private static func secretStart(in target: Substring, path: Substring) -> Substring.Index? {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else { return nil }
        let first = path.utf8.dropFirst().prefix { $0 != slash }
        guard let segment = try? TargetPath.firstSegment(Substring(first)),
            TargetPath.root(of: segment) == pathPrefix,
            Capability.mayHoldSecret(path) || leadsToOwnPath(target)
        else { return nil }
        return first.endIndex < path.endIndex
            ? path.utf8.index(after: first.endIndex) : path.endIndex
    }

    /// Whether a target whose first segment is ``pathPrefix`` is an invalid capability address rather than
    /// a path of the backend: its third segment begins one of Understudy's own paths. A `?` in the second
    /// segment counts as part of the invalid secret.
    private static func leadsToOwnPath(_ target: Substring) -> Bool {
        let segments = target.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
        guard segments.count > 3 else { return false }
        let third = String(decoding: PercentCoding.decodeLeniently(segments[3]), as: UTF8.self)
        return TargetPath.own.contains(TargetPath.root(of: third))
    }
}
