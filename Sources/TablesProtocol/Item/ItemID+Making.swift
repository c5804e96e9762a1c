extension ItemID {
    /// Makes a random id (UUID version 4) in the form that servers of the generation give:
    /// upper-case with dashes, lower-case with dashes, or 32 lower-case digits.
    public static func make(
        generation: Generation, random: inout some RandomNumberGenerator
    ) -> ItemID {
        let high = (random.next() as UInt64) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = (random.next() as UInt64) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        switch generation {
        case .mobileServices:
            return ItemID(generated: UUIDText.make(high, low, isUpperCase: true))
        case .mobileApps: return ItemID(generated: UUIDText.make(high, low))
        case .datasync: return ItemID(generated: UUIDText.make(high, low, isDashed: false))
        }
    }
}
