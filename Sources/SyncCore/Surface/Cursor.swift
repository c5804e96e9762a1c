/// The opaque text that names a place in a list: the number of its last element.
enum Cursor {
    /// The text for the elements after this one.
    static func text(_ number: Int64) -> String { "c" + String(number, radix: 36) }

    /// The number in a text; nil for anything that ``text(_:)`` did not make.
    static func number(_ text: String) -> Int64? {
        guard text.first == "c" else { return nil }
        return Int64(text.dropFirst(), radix: 36)
    }
}
