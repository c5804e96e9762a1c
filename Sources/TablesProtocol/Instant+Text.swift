extension Instant {
    /// The form that every SDK reads: `2014-03-01T08:00:00.120Z`, exactly three fractional digits
    /// (rounded down) and `Z`.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``text`` as bytes: the digits are laid into a copy of the form.
    func appendText(to bytes: inout [UInt8]) {
        let calendar = Calendar(dayNumber: Int(ticks / Self.ticksPerDay))
        let milliseconds = UInt32(ticks % Self.ticksPerDay / Self.ticksPerMillisecond)
        let start = bytes.count
        bytes += Self.form
        var digits = bytes.mutableSpan
        Self.lay(UInt32(calendar.year) / 100, at: start, in: &digits)
        Self.lay(UInt32(calendar.year) % 100, at: start + 2, in: &digits)
        Self.lay(UInt32(calendar.month), at: start + 5, in: &digits)
        Self.lay(UInt32(calendar.day), at: start + 8, in: &digits)
        Self.lay(milliseconds / 3_600_000, at: start + 11, in: &digits)
        Self.lay(milliseconds / 60_000 % 60, at: start + 14, in: &digits)
        Self.lay(milliseconds / 1000 % 60, at: start + 17, in: &digits)
        Self.lay(milliseconds % 1000 / 10, at: start + 20, in: &digits)
        digits[start + 22] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: milliseconds % 10)
    }

    private static let form = Array("0000-00-00T00:00:00.000Z".utf8)

    /// Lays a number of two digits.
    private static func lay(_ value: UInt32, at index: Int, in digits: inout MutableSpan<UInt8>) {
        digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10)
        digits[index + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
    }

    /// The form of `Last-Modified`: `Sat, 01 Mar 2014 08:00:00 GMT`, whole seconds rounded down.
    public var httpDate: String {
        let calendar = calendar
        // 0001-01-01 was a Monday.
        let weekday = Self.weekdays[Int(ticks / Self.ticksPerDay) % 7]
        let month = Self.months[calendar.month - 1]
        let text = text
        let day = text.dropFirst(8).prefix(2)
        let time = text.dropFirst(11).prefix(8)
        return "\(weekday), \(day) \(month) \(text.prefix(4)) \(time) GMT"
    }

    static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
