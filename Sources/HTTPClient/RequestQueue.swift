/// Which requests of each host have a turn, and which wait for one, in the order of their arrival.
///
/// libcurl has a queue of its own behind `CURLMOPT_MAX_HOST_CONNECTIONS`, but there the connect time
/// runs while a request waits behind slow ones, and nothing ends a wait whose time is over.
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
    /// Requests whose transfers wait for their callers, and so have no turn; the one that has been paused
    /// for longest is the first.
    private(set) var paused: [UInt64] = []
    /// In order of arrival. All requests have the same time, so in order of deadline as well.
    private(set) var waiting: [Entry] = []

    init(limitPerHost: Int, pausedLimit: Int) {
        self.limitPerHost = max(1, limitPerHost)
        self.pausedLimit = max(1, pausedLimit)
    }

    /// Puts an entry at the end of the queue.
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

    /// Takes an entry out of the queue; false when it does not wait.
    mutating func leave(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Notes that a request with a turn is paused: its turn is free for the next.
    /// - Returns: the request to give up, where too many are paused; it is released as any other.
    mutating func pause(_ id: UInt64, host: String) -> UInt64? {
        if paused.contains(id) {
            moved(id)
            return nil
        }
        freeTurn(at: host)
        paused.append(id)
        return paused.count > pausedLimit ? paused.first : nil
    }

    /// Notes that the caller of a paused request has moved it on.
    mutating func moved(_ id: UInt64) {
        guard let index = paused.firstIndex(of: id) else { return }
        paused.append(paused.remove(at: index))
    }

    /// Removes a request that had a turn or is paused.
    mutating func release(_ id: UInt64, host: String) {
        if let index = paused.firstIndex(of: id) {
            paused.remove(at: index)
        } else {
            freeTurn(at: host)
        }
    }

    private mutating func freeTurn(at host: String) {
        running[host] = running[host].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
