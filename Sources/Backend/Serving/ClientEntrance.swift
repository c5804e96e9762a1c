import HTTPMessage
import Synchronization
import TablesProtocol

/// Lets the requests of clients in that are not more than their allowances.
final class ClientEntrance: Sendable {
    /// A client's stay, or the answer to a request that is more than the client may have.
    enum Decision: Sendable {
        case free(ClientStay?)
        case refused(Response)
    }

    private let rules: BackendRules
    private let meter: RequestMeter
    private let clock: @Sendable () -> Instant
    /// Each nil where its setting takes all.
    private let addresses, users: ClientLimits?
    /// The budget of all requests; nil takes all.
    private let budget: Mutex<RequestBudget?>

    init(_ rules: BackendRules, _ meter: RequestMeter, clock: @escaping @Sendable () -> Instant) {
        (self.rules, self.meter, self.clock) = (rules, meter, clock)
        let (address, user) = (rules.options.ofAddress, rules.options.ofUser)
        addresses = address.takesAll ? nil : ClientLimits(address)
        users = user.takesAll ? nil : ClientLimits(user)
        budget = Mutex(
            rules.options.requestsPerSecond.map(RequestBudget.init(requestsPerSecond:)))
    }

    /// Whether the address that a request comes from may have one more. A preflight and the backend's own
    /// paths are not counted, and nor is a Unix socket.
    func decide(ofAddress call: Call) -> Decision {
        let address = call.request.connection.peerAddress
        return decide(call, address.isEmpty ? nil : address, addresses, "address")
    }

    /// Whether the user of a request may have one more. The token was verified.
    func decide(ofUser call: Call) -> Decision {
        decide(call, call.user?.id, users, "user")
    }

    private func decide(
        _ call: Call, _ client: String?, _ limits: ClientLimits?, _ kind: String
    ) -> Decision {
        guard let client, let limits, rules.needsPermit(call) else { return .free(nil) }
        switch limits.decide(client, now: clock()) {
        case .accepted(let stay): return .free(stay)
        case .refused(let excess):
            meter.count(limited: "\(kind)_\(excess.rawValue)")
            let most =
                switch excess {
                case .rate: "in a second"
                case .atOnce: "at once"
                }
            return .refused(
                rules.busy(
                    call, "This \(kind) sends more requests \(most) than one may. Try again later.",
                    Limits.retrySeconds))
        }
    }

    /// The answer to a request that the budget refuses; nil for all others.
    func budgetRefusal(_ call: Call) -> Response? {
        guard rules.options.requestsPerSecond != nil, rules.needsPermit(call) else { return nil }
        let now = clock()
        let decision = budget.withLock { $0?.decide(now: now) }
        guard case .refused(let seconds) = decision else { return nil }
        return rules.busy(call, "The backend is busy. Try again later.", seconds)
    }
}
