extension Instant {
    /// The form that every SDK reads: `2014-03-01T08:00:00.120Z`, exactly three fractional digits
    /// (rounded down) and `Z`.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``text`` as bytes.
    func appendText(to bytes: inout [UInt8]) {
        let calendar = calendar
        let milliseconds = Int(ticks / Self.ticksPerMillisecond % 1000)
        Self.append(calendar.year, digits: 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        Self.append(calendar.month, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        Self.append(calendar.day, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        Self.append(calendar.hour, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.append(calendar.minute, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.append(calendar.second, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        Self.append(milliseconds, digits: 3, to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    /// The form of `Last-Modified`: `Sat, 01 Mar 2014 08:00:00 GMT`, whole seconds rounded down.
    public var httpDate: String {
        let calendar = calendar
        // 0001-01-01 was a Monday.
        let weekday = Self.weekdays[Int(ticks / Self.ticksPerDay) % 7]
        var bytes = Array("\(weekday), ".utf8)
        Self.append(calendar.day, digits: 2, to: &bytes)
        bytes += Array(" \(Self.months[calendar.month - 1]) ".utf8)
        Self.append(calendar.year, digits: 4, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        Self.append(calendar.hour, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.append(calendar.minute, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        Self.append(calendar.second, digits: 2, to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + " GMT"
    }

    static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func append(_ value: Int, digits: Int, to bytes: inout [UInt8]) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
