import FoundationEssentials

/// Base64 for versions, tokens and binary values (RFC 4648, sections 4 and 5).
package enum Base64 {
    /// Encodes bytes in the standard alphabet (`+/`), padded.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
    }

    /// Encodes bytes in the URL alphabet (`-_`), without padding.
    package static func encodedForURL(_ bytes: some Sequence<UInt8>) -> String {
        encoded(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes a text in either alphabet, padded or not; nil if it is invalid.
    package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        var digits = String(text).replacing("-", with: "+").replacing("_", with: "/")
        let length = digits.utf8.count
        while digits.utf8.last == UInt8(ascii: "=") { digits.removeLast() }
        let count = digits.utf8.count
        // Foundation ignores a "=" in the middle.
        guard count % 4 != 1, length - count < 3, !digits.utf8.contains(UInt8(ascii: "=")) else {
            return nil
        }
        digits += String(repeating: "=", count: (4 - count % 4) % 4)
        return Data(base64Encoded: digits).map { [UInt8]($0) }
    }
}
