import TablesProtocol

/// Numbers as a server in JavaScript reads them and gives them back: every number is a binary double
/// there, so `9007199254740993` comes back as `9007199254740992`. Only the flavours of servers in
/// JavaScript lose digits so.
enum ScriptNumber {
    /// The number as JavaScript writes it.
    static func text(_ number: JSONNumber) -> JSONText {
        guard let value = Double(number.text), value.isFinite else { return .null }
        if value == value.rounded(), value.magnitude < 0x1p63 { return .integer(Int64(value)) }
        return (try? JSONText(validating: "\(value)")) ?? .null
    }

    /// The number that `Number(text)` gives in JavaScript; nil for a text that is no number.
    static func value(_ text: String) -> Double? {
        let trimmed = text.filter { !$0.isWhitespace }
        let isPlain = trimmed.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        return trimmed.isEmpty ? 0 : isPlain ? Double(trimmed) : nil
    }

    /// The number that `parseInt(text, 10)` gives in JavaScript: the digits that the text begins with;
    /// nil without any.
    static func leading(_ text: String) -> Int? {
        let trimmed = text.drop { $0.isWhitespace }
        let sign = trimmed.prefix { $0 == "-" || $0 == "+" }.prefix(1)
        let digits = trimmed.dropFirst(sign.count).prefix { ("0"..."9").contains($0) }
        return Int("\(sign)\(digits)")
    }

    /// The whole number that both readings agree on: the first generation takes nothing else.
    static func whole(_ text: String) -> Int? {
        guard let number = leading(text), value(text) == Double(number) else { return nil }
        return number
    }
}
