import TablesProtocol

/// Numbers as a server in JavaScript gives them back: every number is a binary double there, so
/// `9007199254740993` comes back as `9007199254740992`. Only the Node flavour loses digits so.
enum ScriptNumber {
    /// The number as JavaScript writes it.
    static func text(_ number: JSONNumber) -> JSONText {
        guard let value = Double(number.text), value.isFinite else { return .null }
        if value == value.rounded(), value.magnitude < 0x1p63 { return .integer(Int64(value)) }
        return (try? JSONText(validating: "\(value)")) ?? .null
    }
}
