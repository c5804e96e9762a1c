extension ItemID {
    /// Makes a random id (UUID version 4) in the form that servers of the generation give:
    /// upper-case with dashes, lower-case with dashes, or 32 lower-case digits.
    public static func make(
        generation: Generation, random: inout some RandomNumberGenerator
    ) -> ItemID {
        let high = (random.next() as UInt64) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = (random.next() as UInt64) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = hex(high) + hex(low)
        switch generation {
        case .mobileServices: return ItemID(generated: dashed(digits).uppercased())
        case .mobileApps: return ItemID(generated: dashed(digits))
        case .datasync: return ItemID(generated: digits)
        }
    }

    private static func hex(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private static func dashed(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
