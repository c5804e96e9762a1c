extension QueryParameter {
    /// A value as it stands in a query string.
    ///
    /// Letters, digits and `-._~$'(),:/@!*` stand for themselves: the .NET server of generation 2
    /// finds column names between raw parentheses, commas and encoded spaces.
    public static func encoded(_ value: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.utf8.count)
        for byte in value.utf8 {
            if Lexer.isLetter(byte) || Lexer.isDigit(byte) || "-._~$'(),:/@!*".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes += Base16.encoded(CollectionOfOne(byte)).utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
