import HTTPMessage
import HTTPTypes
import TablesProtocol

// Secrets of this program in a target that may go to the backend.
extension Guard {
    /// Refuses a target that holds the operator's token, and one whose path holds the secret of the
    /// address that it was asked at: a second time `/c/…`, or in any of its segments.
    /// - Parameters:
    ///   - asked: the request without its capability address.
    ///   - path: the path of it.
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
        let spelled = SecretEncodings(secret)
        guard
            AddressedRequest(asked.request).secret != nil
                || path.readings.contains(where: { spelled.isIn($0) })
        else { return nil }
        return Refusal(
            .target,
            "The path holds the secret of its address twice: write it once, at the beginning.")
    }
}

/// A secret in the spellings in which it may stand in a request: as it is, and in base64, as
/// `Authorization: Basic` has it behind a user's name of any length.
struct SecretEncodings: Sendable, Hashable {
    private let spellings: [[UInt8]]

    /// Spells a secret.
    /// - Parameter secret: ASCII text; an empty one is found nowhere.
    init(_ secret: String) {
        let bytes = Array(secret.utf8)
        var spellings = [bytes]
        for skipped in 0..<3 where !bytes.isEmpty {
            spellings.append(Self.base64(bytes, behind: skipped))
        }
        self.spellings = spellings.filter { !$0.isEmpty }
    }

    /// Whether `text` holds the secret, wherever in it.
    func isIn(_ text: String) -> Bool {
        spellings.contains { spelling in
            text.utf8.count >= spelling.count && text.utf8.firstRange(of: spelling) != nil
        }
    }

    /// The fields without those that hold the secret, wherever in them it stands.
    func removed(from fields: HTTPFields) -> HTTPFields {
        guard fields.contains(where: { isIn($0.value) }) else { return fields }
        return HTTPFields(fields.filter { !isIn($0.value) })
    }

    /// The digits of base64 (RFC 4648, section 4) that stand for `bytes` alone where `skipped` other
    /// bytes come before them, whatever these and the following ones are. For ASCII letters, digits,
    /// `-` and `_` the alphabet for addresses has the same digits.
    private static func base64(_ bytes: [UInt8], behind skipped: Int) -> [UInt8] {
        let digits = Array(
            Base64.encoded([UInt8](repeating: 0, count: skipped) + bytes).utf8)
        // A digit stands for six bits; those count that lie wholly in the bits of `bytes`.
        let (first, end) = (skipped * 8, (skipped + bytes.count) * 8)
        return Array(digits[(first + 5) / 6..<end / 6])
    }
}
