/// What waits for its turn, one after the other: the next is of the client that was served least lately.
struct FairLine<Client: Hashable & Sendable, Work: Sendable>: Sendable {
    private let limitPerClient: Int
    private var waiting: [Client: [Work]] = [:]
    /// The clients for whom something waits, the next one first.
    private var order: [Client] = []

    /// - Parameter limitPerClient: how much may wait for one client.
    init(limitPerClient: Int) { self.limitPerClient = limitPerClient }

    /// Puts work at the end of its client's; false where too much of it waits already.
    mutating func join(_ client: Client, _ work: Work) -> Bool {
        let count = waiting[client]?.count ?? 0
        guard count < limitPerClient else { return false }
        if count == 0 { order.append(client) }
        waiting[client, default: []].append(work)
        return true
    }

    /// Takes the next; nil where nothing waits.
    mutating func next() -> Work? {
        guard let client = order.first, var works = waiting[client] else { return nil }
        order.removeFirst()
        let work = works.removeFirst()
        waiting[client] = works.isEmpty ? nil : works
        if !works.isEmpty { order.append(client) }
        return work
    }
}
