/// What waits for a lane. A free lane goes to the client that was served least lately; no client has two
/// lanes at once.
struct FairQueue<Client: Hashable & Sendable, Work: Sendable>: Sendable {
    /// A client's work in a lane, until ``end(_:)``.
    struct Turn: Sendable {
        let client: Client
        let lane: Int
        let work: Work
    }
    private let limitPerClient: Int
    private var freeLanes: [Int]
    /// The clients that have a lane.
    private var running: Set<Client> = []
    private var waiting: [Client: [Work]] = [:]
    /// The clients for whom something waits, the next one first.
    private var order: [Client] = []

    /// - Parameters:
    ///   - lanes: how many there are.
    ///   - limitPerClient: how much may wait for one client.
    init(lanes: Int, limitPerClient: Int) {
        freeLanes = (0..<lanes).reversed()
        self.limitPerClient = limitPerClient
    }

    /// Puts work at the end of its client's; false where too much of it waits already.
    mutating func join(_ client: Client, _ work: Work) -> Bool {
        let count = waiting[client]?.count ?? 0
        guard count < limitPerClient else { return false }
        if count == 0 { order.append(client) }
        waiting[client, default: []].append(work)
        return true
    }

    /// Takes the next; nil where no lane is free, or nothing waits that may run now.
    mutating func next() -> Turn? {
        guard let place = order.firstIndex(where: { !running.contains($0) }),
            var works = waiting[order[place]], let lane = freeLanes.popLast()
        else { return nil }
        let client = order.remove(at: place)
        let work = works.removeFirst()
        waiting[client] = works.isEmpty ? nil : works
        if !works.isEmpty { order.append(client) }
        running.insert(client)
        return Turn(client: client, lane: lane, work: work)
    }

    /// Gives the lane of a turn back.
    mutating func end(_ turn: Turn) {
        running.remove(turn.client)
        freeLanes.append(turn.lane)
    }

    /// Takes out what waits in vain.
    mutating func remove(where isInVain: (Work) -> Bool) -> [Work] {
        var removed: [Work] = []
        for (client, works) in waiting {
            var kept: [Work] = []
            for work in works {
                if isInVain(work) { removed.append(work) } else { kept.append(work) }
            }
            waiting[client] = kept.isEmpty ? nil : kept
        }
        order.removeAll { waiting[$0] == nil }
        return removed
    }
}
