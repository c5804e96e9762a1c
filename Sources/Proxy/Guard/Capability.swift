import HTTPMessage
import TablesProtocol

/// An address with a secret in it, `http://127.0.0.1:8080/c/SECRET`: a client that knows it may call
/// `/tables` there. Its name says in history which client wrote; it is no identity.
struct Capability: Sendable, Hashable {
    /// What the operator calls the client.
    let name: String
    /// SHA-256 of the secret in hexadecimal digits; the secret itself is kept nowhere.
    let fingerprint: String
    /// When the address was made.
    let madeAt: Instant

    /// Whether a name can be given: letters, digits, `-`, `_` and `.`, a letter or digit first.
    static func isName(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.".utf8.contains(byte)
            }
        }
        return isPlain && text.first.map { !"-_.".contains($0) } == true
            && text.utf8.count <= Limits.capabilityNameBytes
    }

    /// Whether a path may hold a secret, as it is or percent-encoded, once or twice.
    static func mayHoldSecret(_ path: Substring) -> Bool {
        let once = PercentCoding.decodeLeniently(path.utf8)
        return [Array(path.utf8), once, PercentCoding.decodeLeniently(once)].contains { bytes in
            bytes.split { !isOfSecret($0) }.contains { $0.count >= Limits.capabilitySecretBytes }
        }
    }

    private static func isOfSecret(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "~"): false
        default: PercentCoding.isUnreserved(byte)
        }
    }
}
