/// Who has a connection's turn at each host, and who waits for one, first come first served.
///
/// libcurl has a queue of its own behind `CURLMOPT_MAX_HOST_CONNECTIONS`, but there the connect time
/// runs while a request waits behind slow ones, and nothing ends a wait whose time is over.
struct WaitingLine {
    /// What stands in line.
    struct Entry: Equatable {
        var id: UInt64
        var host: String
        var deadline: ContinuousClock.Instant
    }

    private let limitPerHost: Int
    private var running: [String: Int] = [:]
    /// In order of arrival. All requests have the same time, so in order of deadline as well.
    private(set) var waiting: [Entry] = []

    init(limitPerHost: Int) {
        self.limitPerHost = max(1, limitPerHost)
    }

    /// Puts an entry at the end of the line.
    mutating func join(_ entry: Entry) {
        waiting.append(entry)
    }

    /// Takes the first entry whose host has a free turn, and gives it that turn.
    mutating func next() -> UInt64? {
        guard let index = waiting.firstIndex(where: { running[$0.host, default: 0] < limitPerHost })
        else { return nil }
        let entry = waiting.remove(at: index)
        running[entry.host, default: 0] += 1
        return entry.id
    }

    /// Takes the first entry whose time is over.
    mutating func expired(at now: ContinuousClock.Instant) -> UInt64? {
        guard let first = waiting.first, first.deadline <= now else { return nil }
        return waiting.removeFirst().id
    }

    /// Takes an entry out of the line; false when it does not wait.
    mutating func leave(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Gives a turn back.
    mutating func release(host: String) {
        running[host] = running[host].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
