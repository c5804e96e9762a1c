import HTTPTypes

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
        let first = skipped * 8
        let end = first + bytes.count * 8
        // A digit stands for six bits; those count that lie wholly in the bits of `bytes`.
        return ((first + 5) / 6..<end / 6).map { place in
            var value = 0
            for bit in (place * 6 - first)..<(place * 6 - first + 6) {
                let byte = Int(bytes[bit / 8])
                value = value * 2 + (byte >> (7 - bit % 8)) & 1
            }
            return digits[value]
        }
    }

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
