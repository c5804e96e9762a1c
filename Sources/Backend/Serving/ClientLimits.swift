import HTTPMessage
import Synchronization
import TablesProtocol

/// What one client may ask of a node. Nil takes all.
public struct ClientAllowance: Sendable, Hashable {
    /// The most requests in a second.
    public var requestsPerSecond: Int?
    /// The most requests that are answered at the same time.
    public var requestsAtOnce: Int?

    /// Makes an allowance.
    public init(requestsPerSecond: Int? = nil, requestsAtOnce: Int? = nil) {
        self.requestsPerSecond = requestsPerSecond
        self.requestsAtOnce = requestsAtOnce
    }

    /// Whether nothing is refused.
    public var takesAll: Bool { requestsPerSecond == nil && requestsAtOnce == nil }
}

/// Refuses the requests of a client that are more than its allowance. The key is what tells clients apart: the
/// id of a user, or the address that a connection comes from.
///
/// A client whose requests have all been answered, and that has rested for ``Limits/clientBurstMilliseconds``,
/// is as one that was never here, and is forgotten.
final class ClientLimits: Sendable {
    /// Why a request is refused.
    enum Excess: String, Sendable, Hashable {
        case rate, atOnce = "at_once"
    }

    /// What becomes of a request.
    enum Decision: Sendable {
        case accepted(ClientStay)
        case refused(Excess)
    }

    private struct Use {
        var permits: PermitBucket?
        var atOnce = 0
        var last: Instant
    }

    private struct State {
        var uses: [String: Use] = [:]
        /// The number of clients at which those that rest are looked for.
        var sweepsAt = Limits.limitedClients
    }

    private let allowance: ClientAllowance
    private let state = Mutex(State())

    init(_ allowance: ClientAllowance) { self.allowance = allowance }

    /// Decides about one request. A refused one costs its client no permit.
    func decide(_ client: String, now: Instant) -> Decision {
        let excess: Excess? = state.withLock { state in
            if state.uses.count >= state.sweepsAt { Self.sweep(&state, now: now) }
            var use =
                state.uses[client]
                ?? Use(
                    permits: allowance.requestsPerSecond.map {
                        PermitBucket(
                            perSecond: $0, burstMilliseconds: Limits.clientBurstMilliseconds)
                    }, last: now)
            defer { state.uses[client] = use }
            use.last = now
            if let most = allowance.requestsAtOnce, use.atOnce >= most { return .atOnce }
            if use.permits?.take(now: now) == false { return .rate }
            use.atOnce += 1
            return nil
        }
        if let excess { return .refused(excess) }
        return .accepted(ClientStay(client, self))
    }

    /// A request of the client has its answer, or needs none.
    fileprivate func leave(_ client: String) {
        state.withLock { $0.uses[client]?.atOnce -= 1 }
    }

    private static func sweep(_ state: inout State, now: Instant) {
        state.uses = state.uses.filter { _, use in
            let rest = now.milliseconds - use.last.milliseconds
            return use.atOnce > 0 || Double(abs(rest)) < Limits.clientBurstMilliseconds
        }
        state.sweepsAt = max(Limits.limitedClients, 2 * state.uses.count)
    }
}

/// One request that a client has at the node. It ends with its answer; a request that is never answered,
/// since its client has left, ends when nothing refers to it any more.
final class ClientStay: Sendable {
    private let client: String
    private let limits: ClientLimits
    private let hasEnded = Atomic(false)

    fileprivate init(_ client: String, _ limits: ClientLimits) {
        (self.client, self.limits) = (client, limits)
    }

    deinit { end() }

    func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { limits.leave(client) }
    }
}
