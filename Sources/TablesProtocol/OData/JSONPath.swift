/// Writes SQL names and JSON paths: the only place where a name from outside enters SQL text.
enum JSONPath {
    /// A path as an SQL string constant, `'$."a"."b"'`; nil if SQLite cannot name such a key.
    ///
    /// A constant rather than a bound value, so that an index on the same expression serves it.
    /// SQLite 3.40 knows no escape inside of `"…"`, hence no path to a key with a quote, a
    /// backslash or a control character; no option can name one either.
    static func constant(_ path: [String]) -> String? {
        var text: [UInt8] = Array("'$".utf8)
        for name in path {
            text += ".\"".utf8
            for byte in name.utf8 {
                switch byte {
                case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): return nil
                case UInt8(ascii: "'"): text += "''".utf8
                default: text.append(byte)
                }
            }
            text.append(UInt8(ascii: "\""))
        }
        text.append(UInt8(ascii: "'"))
        return String(decoding: text, as: UTF8.self)
    }

    /// An identifier in double quotes.
    static func identifier(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}
