/// The requests of each host: those that have a slot, and those that wait for one in order of arrival.
///
/// libcurl has a queue of its own behind `CURLMOPT_MAX_HOST_CONNECTIONS`. There the connect time runs while a
/// request waits behind slow ones, and a wait has no end of its own.
struct RequestQueue {
    /// A request that waits.
    struct Entry: Equatable {
        var id: UInt64
        var host: String
        var deadline: ContinuousClock.Instant
    }

    private let limitPerHost: Int
    private let pausedLimit: Int
    private var running: [String: Int] = [:]
    /// Requests without a slot, whose transfers wait for their callers. The one that has been paused for
    /// longest is the first.
    private(set) var paused: [UInt64] = []
    /// In order of arrival, which is that of the deadlines too: all requests have the same time.
    private(set) var waiting: [Entry] = []

    init(limitPerHost: Int, pausedLimit: Int) {
        self.limitPerHost = max(1, limitPerHost)
        self.pausedLimit = max(1, pausedLimit)
    }

    /// Adds an entry at the end.
    mutating func enqueue(_ entry: Entry) {
        waiting.append(entry)
    }

    /// Removes the first entry whose host has a free slot, and gives it the slot.
    /// - Returns: its id; nil when there is none.
    mutating func startNext() -> UInt64? {
        guard let index = waiting.firstIndex(where: { running[$0.host, default: 0] < limitPerHost })
        else { return nil }
        let entry = waiting.remove(at: index)
        running[entry.host, default: 0] += 1
        return entry.id
    }

    /// Removes the first entry if its deadline has passed.
    /// - Returns: its id; nil when there is none.
    mutating func removeExpired(at now: ContinuousClock.Instant) -> UInt64? {
        guard let first = waiting.first, first.deadline <= now else { return nil }
        return waiting.removeFirst().id
    }

    /// Removes an entry; false when it does not wait.
    mutating func removeWaiting(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Records that a request is paused, and frees its slot.
    /// - Returns: the request to give up when too many are paused. The caller releases it.
    mutating func pause(_ id: UInt64, host: String) -> UInt64? {
        if paused.contains(id) {
            noteProgress(id)
            return nil
        }
        freeSlot(of: host)
        paused.append(id)
        return paused.count > pausedLimit ? paused.first : nil
    }

    /// Records that a paused request has gone on.
    mutating func noteProgress(_ id: UInt64) {
        guard let index = paused.firstIndex(of: id) else { return }
        paused.append(paused.remove(at: index))
    }

    /// Removes a request that has a slot or is paused.
    mutating func release(_ id: UInt64, host: String) {
        if let index = paused.firstIndex(of: id) {
            paused.remove(at: index)
        } else {
            freeSlot(of: host)
        }
    }

    private mutating func freeSlot(of host: String) {
        running[host] = running[host].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
