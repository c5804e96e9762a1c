import Dispatch
import HTTPMessage
import SyncCore
import Synchronization
import TablesProtocol

/// The lists that go over the short budget of a read, in a few lanes. Each lane has a thread and a reader
/// of its own.
///
/// A client has one list under way at most. Its next one comes after those of the other clients that wait.
/// What waits for a client that has left is ended when the next list comes, or one that runs ends.
final class LongReads: Sendable {
    /// What takes turns. All programs of a machine share the loopback address, so what tells clients
    /// apart is their identity, and the name of the address of their own where they have one.
    struct Client: Hashable, Sendable {
        let identity: String
        let actor: Actor
    }

    /// Why a client is sent away.
    static let tooMany =
        "Too many lists that need much work wait for this client; wait for their answers first."
    /// The answer for a client that has closed its side and still listens.
    static let clientLeft =
        "The list was ended, because the client closed its side of the connection before its answer."
    /// What a client can do whose list was cut.
    static let tooMuch =
        "This list needs more work than one may take, or more than "
        + "\(StoreLimits.readMilliseconds / 1000) seconds. Ask for less at a time: fewer functions in "
        + "the filter, or a comparison with a column that has an index."

    private struct Read: Sendable {
        let clientHasLeft: @Sendable () -> Bool
        /// Gets the reader's number; nil where the client has left.
        let body: @Sendable (Int?) -> Void
    }
    private struct Lane {
        let reader: Int
        let queue: DispatchQueue
    }
    private typealias Line = FairQueue<Client, Read>
    private let line: Mutex<Line>
    private let lanes: [Lane]

    /// - Parameter readers: the numbers of the stores' readers, one for each lane.
    init(readers: Range<Int>) {
        lanes = readers.map {
            Lane(reader: $0, queue: DispatchQueue(label: "understudy.long-reads.\($0)"))
        }
        line = Mutex(Line(lanes: readers.count, limitPerClient: Limits.longReadsWaiting))
    }

    /// Runs `body` on a lane's thread when it is the client's turn.
    /// - Parameters:
    ///   - clientHasLeft: whether the client waits no longer.
    ///   - body: gets the number of the lane's reader; nil where the client left before its turn.
    /// - Returns: false, and nothing will run, where the client has too many that wait.
    func run(
        for client: Client, clientHasLeft: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable (_ reader: Int?) -> Void
    ) -> Bool {
        endAbandoned()
        let (isTaken, turn) = line.withLock { line in
            (line.join(client, Read(clientHasLeft: clientHasLeft, body: body)), line.next())
        }
        if let turn { start(turn) }
        return isTaken
    }

    private func start(_ turn: Line.Turn) {
        let lane = lanes[turn.lane]
        lane.queue.async { [self] in
            turn.work.body(lane.reader)
            endAbandoned()
            let next = line.withLock { line in
                line.end(turn)
                return line.next()
            }
            if let next { start(next) }
        }
    }

    /// Ends what waits for clients that have left.
    private func endAbandoned() {
        let left = line.withLock { line in line.remove { $0.clientHasLeft() } }
        for read in left { read.body(nil) }
    }
}

// The lists of clients.
extension LongReads {
    /// Lists on the calling thread with the short budget; a list that goes over it runs when it is the
    /// client's turn.
    /// - Parameter beyondPart: whether a list beyond the part of a table gives what is here.
    func listOffServer(
        _ request: TableRequest, _ query: TableQuery, beyondPart: Bool = false, _ reply: Reply,
        then: @escaping @Sendable (ListOutcome, TableRequest) -> Void
    ) {
        let outcome = request.list(query, beyondPart: beyondPart)
        guard case .overBudget = outcome else { return then(outcome, request) }
        list(request, query, beyondPart: beyondPart, reply, then: then)
    }

    /// Lists without the short budget, when it is the client's turn, for as long as the client waits.
    /// - Parameter then: gets the outcome on the lane's thread, with the request there.
    func list(
        _ request: TableRequest, _ query: TableQuery, beyondPart: Bool = false, _ reply: Reply,
        then: @escaping @Sendable (ListOutcome, TableRequest) -> Void
    ) {
        @Sendable func end(_ sentence: String) {
            reply(
                request.error(
                    .unavailable(sentence, retryAfterSeconds: Limits.longReadRetrySeconds)))
        }
        let client = Client(identity: request.tenant.identity, actor: request.actor)
        let isTaken = run(for: client, clientHasLeft: { reply.clientHasLeft }) { reader in
            guard let reader else { return end(Self.clientLeft) }
            let request = request.moved(to: reader)
            let outcome = request.tenant.store.listUnhurried(
                request.table, query, generation: request.call.generation, within: request.pairs,
                beyondPart: beyondPart, isAbandoned: { reply.clientHasLeft })
            guard !reply.clientHasLeft else { return end(Self.clientLeft) }
            then(outcome, request)
        }
        if !isTaken { end(Self.tooMany) }
    }
}

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
