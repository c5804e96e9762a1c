/// What was seen of a fleet, by the second after the backend's return.
struct FleetResult {
    /// Requests that arrived, refused ones too, and those that were accepted.
    var arrivals: [Int]
    var accepted: [Int]
    /// The operations that waited, and those that were sent.
    var operations = 0
    var sent = 0
    /// The proxies that pulled all their tables.
    var synced = 0
    /// When the last operation was sent.
    var drainedSeconds = 0

    init(seconds: Int) {
        arrivals = Array(repeating: 0, count: seconds)
        accepted = arrivals
    }

    /// The most requests that arrived in one second.
    var peak: Int { arrivals.max() ?? 0 }
    /// The requests that were refused.
    var refused: Int { arrivals.reduce(0, +) - accepted.reduce(0, +) }
}
