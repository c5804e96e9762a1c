public import TablesProtocol

/// The faults between the backend and its clients; they act until they are changed.
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

/// The faults that act on one request.
struct FaultPlan: Sendable, Hashable {
    /// The wait before anything else, in milliseconds.
    var latencyMilliseconds = 0
    /// The fault; nil when none acts.
    var fault: FaultRule.Kind?
}

/// One thing that goes wrong, and for which requests.
public struct FaultRule: Sendable, Hashable {
    /// The fault.
    public enum Kind: Sendable, Hashable {
        /// The request waits this long before it is served.
        case latency(milliseconds: Int)
        /// This status is answered; the request is applied before only if `applies`.
        case status(Int, retryAfter: String? = nil, applies: Bool = false)
        /// The connection is closed unanswered, after the request was applied if `applies`.
        case drop(applies: Bool)
        /// The request arrives twice; the client gets the answer to the first or to the second.
        case duplicate(answersSecond: Bool)
        /// The request is applied and its answer breaks off half-way.
        case torn
        /// A sign-in page with status 200, as a captive portal gives; nothing is applied.
        case portal
        /// The answer says that the request was applied, and it was not.
        case pretend
    }

    /// The properties of a request that a rule matches.
    struct Subject: Sendable, Hashable {
        var method: String
        var table: TableName?
        var item: String?
    }

    /// The fault.
    public var kind: Kind
    /// Only these methods; empty for all.
    public var methods: Set<String>
    /// Only these tables; empty for all.
    public var tables: Set<TableName>
    /// Only the items with these ids in the path; empty for all.
    public var items: Set<String>
    /// The probability, 0 to 1, that the rule acts on a request that it matches.
    public var rate: Double
    /// The number of matching requests that pass before the rule begins to act.
    public var skip: Int
    /// The number of further times that the rule acts; nil for always.
    public var count: Int?

    /// Makes a rule; without further arguments, one for every request.
    public init(
        _ kind: Kind, methods: Set<String> = [], tables: Set<TableName> = [],
        items: Set<String> = [], rate: Double = 1, skip: Int = 0, count: Int? = nil
    ) {
        self.kind = kind
        self.methods = methods
        self.tables = tables
        self.items = items
        self.rate = rate
        self.skip = skip
        self.count = count
    }

    func matches(_ subject: Subject) -> Bool {
        (methods.isEmpty || methods.contains(subject.method))
            && (tables.isEmpty || subject.table.map(tables.contains) ?? false)
            && (items.isEmpty || subject.item.map(items.contains) ?? false)
    }

    /// Whether the rule acts on a request that it matches; counts it down.
    mutating func takesTurn(happens: (Double) -> Bool) -> Bool {
        if skip > 0 {
            skip -= 1
            return false
        }
        guard count != 0, rate >= 1 || happens(rate) else { return false }
        count = count.map { $0 - 1 }
        return true
    }
}
