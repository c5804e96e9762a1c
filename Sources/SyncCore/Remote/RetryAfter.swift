import TablesProtocol

/// Reads `Retry-After` in both its forms.
enum RetryAfter {
    /// How long to wait from `now`: whole seconds, or an HTTP date. Nil when the field is absent or
    /// unreadable; never negative, at most ``SyncLimits/retryAfterSeconds``.
    static func parse(_ field: String?, now: Instant) -> Duration? {
        guard let field else { return nil }
        let text = field.filter { $0 != " " }
        if let seconds = Int64(text) { return bounded(.seconds(max(seconds, 0))) }
        guard let instant = Instant(httpDate: field) else { return nil }
        return bounded(.milliseconds(max(instant.milliseconds - now.milliseconds, 0)))
    }

    private static func bounded(_ duration: Duration) -> Duration {
        min(duration, .seconds(SyncLimits.retryAfterSeconds))
    }
}

extension Instant {
    /// Reads `Sat, 01 Mar 2014 08:00:00 GMT`, the one form of dates that HTTP allows to be sent.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT",
            let month = Self.httpMonths.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        let day = parts[1].count == 1 ? "0\(parts[1])" : "\(parts[1])"
        self.init(iso: "\(parts[3])-\(number)-\(day)T\(parts[4])Z")
    }

    private static let httpMonths: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
