extension Instant {
    /// Reads a date of a header field in the three forms that HTTP has (RFC 9110, section 5.6.7):
    /// `Sat, 01 Mar 2014 08:00:00 GMT`, `Saturday, 01-Mar-14 08:00:00 GMT` and
    /// `Sat Mar  1 08:00:00 2014`. The name of the day is not looked at.
    public init?(httpDate text: String) {
        let words = text.split(whereSeparator: { " ,-".contains($0) })
        guard words.count == 6 || words.count == 5 else { return nil }
        let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
        if words.count == 6 {
            guard words[5] == "GMT" || words[5] == "UTC" else { return nil }
            parts = (words[1], words[2], words[3], words[4])
        } else {
            parts = (words[2], words[1], words[4], words[3])
        }
        guard let month = Self.months.firstIndex(where: { $0 == parts.month }) else { return nil }
        let year =
            parts.year.count == 2 ? (parts.year < "50" ? "20" : "19") + parts.year : parts.year
        let number = Self.twoDigits("\(month + 1)")
        self.init(iso: "\(year)-\(number)-\(Self.twoDigits(parts.day))T\(parts.time)Z")
    }

    private static func twoDigits(_ text: some StringProtocol) -> String {
        text.count == 1 ? "0\(text)" : String(text)
    }
}
