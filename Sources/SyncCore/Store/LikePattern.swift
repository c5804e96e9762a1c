/// The pattern with which LIKE finds a text anywhere in a value. LIKE compares ASCII letters in any case. It
/// searches a long JSON text four times as fast as `instr(lower(…))`.
enum LikePattern {
    /// The pattern for a text, of which the first ``StoreLimits/searchCharacters`` count. Used with
    /// `ESCAPE '\'`.
    static func containing(_ text: String) -> String {
        var pattern = "%"
        for character in text.prefix(StoreLimits.searchCharacters) {
            if "%_\\".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
        return pattern + "%"
    }
}
