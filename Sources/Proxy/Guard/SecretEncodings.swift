import HTTPMessage
import HTTPTypes
import TablesProtocol

// Secrets of this program in a target that may be sent to the backend.
extension Guard {
    /// Refuses a target that contains the operator's token, and one whose path still contains the secret of
    /// its capability address after the address was removed.
    /// - Parameters:
    ///   - asked: the request without its capability address.
    ///   - path: the path of that request.
    func secretRefusal(
        _ asked: AddressedRequest, _ space: Space, _ path: TargetPath
    ) -> Refusal? {
        if case .operatorAPI = space { return nil }
        if access.isTokenIn(asked.request.head.path ?? "") {
            return Refusal(
                .target,
                "The operator's token stands in the target, which may go to the backend: send it as "
                    + "`Authorization: Bearer`.")
        }
        guard let secret = asked.secret else { return nil }
        let encodings = SecretEncodings(secret)
        guard
            asked.hasSecondAddress
                || path.readings.contains(where: { encodings.isIn($0) })
        else { return nil }
        return Refusal(
            .target,
            "The path holds the secret of its address twice: write it once, at the beginning.")
    }
}

/// The forms of a secret in a request: plain, and in base64 at any offset, as in `Authorization: Basic`
/// after a user name of any length.
struct SecretEncodings: Sendable, Hashable {
    private let spellings: [[UInt8]]
    /// The length of the shortest form, in bytes.
    private let shortest: Int

    /// Encodes a secret.
    /// - Parameter secret: ASCII text; an empty one is found in no text.
    init(_ secret: String) {
        let bytes = Array(secret.utf8)
        var spellings = [bytes]
        for skipped in 0..<3 where !bytes.isEmpty {
            spellings.append(Self.base64(bytes, behind: skipped))
        }
        self.spellings = spellings.filter { !$0.isEmpty }
        shortest = self.spellings.map(\.count).min() ?? .max
    }

    /// Whether `text` contains the secret.
    func isIn(_ text: String) -> Bool {
        guard mayBeIn(text) else { return false }
        let bytes = Array(text.utf8)
        return spellings.contains { spelling in
            bytes.count >= spelling.count
                && (0...bytes.count - spelling.count).contains {
                    bytes[$0] == spelling[0] && bytes[$0...].starts(with: spelling)
                }
        }
    }

    /// Whether a text is long enough for the secret, also after it is decoded.
    func mayBeIn(_ text: String) -> Bool { text.utf8.count >= shortest }

    /// The fields without those whose value contains the secret.
    func removed(from fields: HTTPFields) -> HTTPFields {
        guard fields.contains(where: { isIn($0.value) }) else { return fields }
        return HTTPFields(fields.filter { !isIn($0.value) })
    }

    /// The base64 digits (RFC 4648, section 4) that depend on `bytes` alone, if `skipped` other bytes come
    /// before them and any bytes after them. For ASCII letters, digits, `-` and `_` base64url has the same
    /// digits.
    private static func base64(_ bytes: [UInt8], behind skipped: Int) -> [UInt8] {
        let digits = Array(
            Base64.encoded([UInt8](repeating: 0, count: skipped) + bytes).utf8)
        // A digit encodes six bits. Those whose bits are all in `bytes` are taken.
        let (first, end) = (skipped * 8, (skipped + bytes.count) * 8)
        return Array(digits[(first + 5) / 6..<end / 6])
    }
}
