import Crypto

extension SHA256 {
    /// The digest of a text in lower case hexadecimal digits: what may be kept of a secret.
    static func hex(_ text: String) -> String { hash(data: Array(text.utf8)).hexadecimal }
}

extension Sequence<UInt8> {
    /// Two lower case digits for each byte.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
