extension Instant {
    /// Reads `Sat, 01 Mar 2014 08:00:00 GMT`, the one form of dates that HTTP allows to be sent.
    public init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let month = Self.months.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        let day = parts[1].count == 1 ? "0\(parts[1])" : "\(parts[1])"
        self.init(iso: "\(parts[3])-\(number)-\(day)T\(parts[4])Z")
    }
}
