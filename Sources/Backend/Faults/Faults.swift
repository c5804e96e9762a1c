/// What goes wrong between the backend and its clients, from now until it is changed.
public struct Faults: Sendable, Hashable {
    /// Whether every connection is closed unanswered, before anything is applied.
    public var isDown: Bool
    /// The rules. Latencies of all that match add up; of the others the first that matches acts.
    public var rules: [FaultRule]

    /// Nothing goes wrong.
    public static let none = Faults()

    /// Makes faults from their parts.
    public init(isDown: Bool = false, rules: [FaultRule] = []) {
        self.isDown = isDown
        self.rules = rules
    }

    /// Takes the next request into account: decides what happens to it and counts the rules down.
    ///
    /// 1. A backend that is down closes.
    /// 2. Each rule that matches first lets its skipped requests pass, then acts with its
    ///    probability, as often as its count allows.
    /// 3. Every latency counts; of the rest the first one acts and those behind it stay untouched.
    mutating func plan(_ subject: FaultRule.Subject, happens: (Double) -> Bool) -> FaultPlan {
        var plan = FaultPlan()
        if isDown {
            plan.fault = .drop(applies: false)
            return plan
        }
        for index in rules.indices where rules[index].matches(subject) {
            if case .latency = rules[index].kind {} else if plan.fault != nil { continue }
            guard rules[index].takesTurn(happens: happens) else { continue }
            if case .latency(let milliseconds) = rules[index].kind {
                plan.latencyMilliseconds += milliseconds
            } else {
                plan.fault = rules[index].kind
            }
        }
        return plan
    }
}

/// What happens to one request.
struct FaultPlan: Sendable, Hashable {
    /// How long it waits before anything else, in milliseconds.
    var latencyMilliseconds = 0
    /// What goes wrong; nil when nothing does.
    var fault: FaultRule.Kind?
}
