/// A time of day (`Edm.TimeOfDay` in v4, `Edm.Time` in v3).
public struct TimeLiteral: Sendable, Hashable {
    /// The text, `09:52:35.321`.
    public let text: String
    /// Ticks of 100 ns since midnight.
    public let ticks: Int64

    /// Takes `HH:MM[:SS[.fraction]]`, or v3's duration `PT9H52M35.321S`; nil if it is no time of day.
    public init?(_ text: String) {
        let clock = text.hasPrefix("PT") ? Self.clock(ofDuration: text.dropFirst(2)) : text
        guard let clock, clock.utf8.first != UInt8(ascii: "/"),
            let instant = Instant(iso: "0001-01-01T\(clock)Z")
        else { return nil }
        self.text = clock
        ticks = instant.ticks
    }

    /// `9H52M35.321S` as `09:52:35.321`.
    private static func clock(ofDuration text: Substring) -> String? {
        var fields = ["00", "00", "00"]
        var rest = text
        for (index, unit) in ["H", "M", "S"].enumerated() {
            guard let end = rest.firstIndex(of: Character(unit)) else { continue }
            let digits = rest[..<end]
            guard let first = digits.utf8.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first
            else { return nil }
            let whole = digits.prefix { $0 != "." }
            fields[index] = whole.utf8.count == 1 ? "0\(digits)" : String(digits)
            rest = rest[end...].dropFirst()
        }
        return rest.isEmpty && text.utf8.count > 1 ? fields.joined(separator: ":") : nil
    }
}
