import FoundationEssentials

/// Base64 as versions, tokens and binary values are written (RFC 4648, sections 4 and 5).
package enum Base64 {
    /// The text of bytes, in the alphabet with `+/`, padded.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
    }

    /// The text of bytes in the alphabet for addresses (`-_`), without padding.
    package static func encodedForURL(_ bytes: some Sequence<UInt8>) -> String {
        encoded(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The bytes of a text in either alphabet (`+/` or `-_`), padded or not; nil if it is none.
    package static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        var digits = String(text).replacing("-", with: "+").replacing("_", with: "/")
        let length = digits.utf8.count
        while digits.utf8.last == UInt8(ascii: "=") { digits.removeLast() }
        let count = digits.utf8.count
        // The library passes over a "=" that stands inside.
        guard count % 4 != 1, length - count < 3, !digits.utf8.contains(UInt8(ascii: "=")) else {
            return nil
        }
        digits += String(repeating: "=", count: (4 - count % 4) % 4)
        return Data(base64Encoded: digits).map { [UInt8]($0) }
    }
}
