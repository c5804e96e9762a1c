/// UUIDs as text. Each write makes two, so they are written digit by digit into one text.
package enum UUIDText {
    /// The 32 digits of the two halves, with dashes where a UUID has them.
    package static func make(
        _ high: UInt64, _ low: UInt64, isDashed: Bool = true, isUpperCase: Bool = false
    ) -> String {
        let letter = UInt8(ascii: isUpperCase ? "A" : "a") - 10
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        for word in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 0xF
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : letter + digit)
                guard isDashed else { continue }
                switch bytes.count {
                case 8, 13, 18, 23: bytes.append(UInt8(ascii: "-"))
                default: break
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
