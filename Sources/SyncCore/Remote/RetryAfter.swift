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
