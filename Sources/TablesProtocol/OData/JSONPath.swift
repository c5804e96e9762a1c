/// Writes SQL names and JSON paths: the only place where a name from outside enters SQL text.
enum JSONPath {
    /// A path as an SQL string constant, `'$."a"."b"'`; nil if SQLite cannot name such a key.
    ///
    /// A constant rather than a bound value, so that an index on the same expression serves it.
    /// SQLite 3.40 knows no escape inside of `"…"`, hence no path to a key with a quote, a
    /// backslash or a control character; no option can name one either.
    static func constant(_ path: [String]) -> String? {
        var text = "$"
        for name in path {
            guard
                name.utf8.allSatisfy({
                    $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
                })
            else { return nil }
            text += ".\"\(name)\""
        }
        return "'\(text.replacing("'", with: "''"))'"
    }

    /// An identifier in double quotes.
    static func identifier(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}
