import HTTPMessage
import HTTPTypes

/// A request with the secret of its capability address taken off its target, if there was one.
struct AddressedRequest: Sendable {
    /// The request as it would be at the plain address.
    let request: Request
    /// The secret; nil for the plain address.
    let secret: String?

    /// Takes `/c/SECRET` off the raw target, before anything is decoded.
    init(_ request: Request) {
        let target = request.head.path ?? "/"
        guard target.hasPrefix(Self.prefix) else {
            self.request = request
            secret = nil
            return
        }
        let behind = target.dropFirst(Self.prefix.count)
        let secret = behind.prefix { $0 != "/" && $0 != "?" }
        let rest = behind.dropFirst(secret.count)
        var plain = request
        plain.head.path = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
        self.request = plain
        self.secret = String(secret)
    }

    /// The path of the address, which stands before every path that is asked for there.
    var base: String { secret.map { Self.prefix + $0 } ?? "" }

    /// The segment before the secret.
    static let mark = "c"
    private static let prefix = "/\(mark)/"
}
