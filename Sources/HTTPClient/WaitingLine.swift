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
    private let standingLimit: Int
    private var running: [String: Int] = [:]
    /// Those that wait for their callers, and so have no turn; the one that nothing has moved for longest
    /// is the first.
    private(set) var standing: [UInt64] = []
    /// In order of arrival. All requests have the same time, so in order of deadline as well.
    private(set) var waiting: [Entry] = []

    init(limitPerHost: Int, standingLimit: Int) {
        self.limitPerHost = max(1, limitPerHost)
        self.standingLimit = max(1, standingLimit)
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

    /// Takes in that one with a turn waits for its caller: its turn is free for the next.
    /// - Returns: the one to give up, where there are too many; it is released as any other.
    mutating func stand(_ id: UInt64, host: String) -> UInt64? {
        if standing.contains(id) {
            moved(id)
            return nil
        }
        giveTurn(at: host)
        standing.append(id)
        return standing.count > standingLimit ? standing.first : nil
    }

    /// Takes in that the caller of one that stands has moved it on.
    mutating func moved(_ id: UInt64) {
        guard let index = standing.firstIndex(of: id) else { return }
        standing.append(standing.remove(at: index))
    }

    /// Lets one go that had a turn, or stands.
    mutating func release(_ id: UInt64, host: String) {
        if let index = standing.firstIndex(of: id) {
            standing.remove(at: index)
        } else {
            giveTurn(at: host)
        }
    }

    private mutating func giveTurn(at host: String) {
        running[host] = running[host].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
