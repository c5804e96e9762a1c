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
    var fault: FaultKind?
}

/// The fault.
public enum FaultKind: Sendable, Hashable {
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

/// One thing that goes wrong, and for which requests.
public struct FaultRule: Sendable, Hashable {
    /// The properties of a request that a rule matches.
    struct Subject: Sendable, Hashable {
        var method: String
        var table: TableName?
        var item: String?
    }

    /// The fault.
    public var kind: FaultKind
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
        _ kind: FaultKind, methods: Set<String> = [], tables: Set<TableName> = [],
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

extension Faults {
    /// The faults as `GET /-/faults` shows them.
    var json: JSONValue {
        .object([
            JSONValue.Member("down", .bool(isDown)),
            JSONValue.Member("rules", .array(rules.map(\.json))),
        ])
    }

    /// Reads what `PUT /-/faults` sends.
    /// - Throws: a refusal that names the member that is wrong.
    init(json: JSONValue) throws(Refusal) {
        guard case .object(let members) = json else {
            throw Refusal(400, "Faults are an object with 'down' and 'rules'.")
        }
        self.init()
        for member in members {
            switch (member.name, member.value) {
            case ("down", .bool(let value)): isDown = value
            case ("rules", .array(let values)):
                for value in values { rules.append(try FaultRule(json: value)) }
            default: throw Refusal(400, "'\(member.name)' is not understood.")
            }
        }
    }
}

extension FaultRule {
    /// The rule as JSON.
    var json: JSONValue {
        var members = kind.members
        let add = { (name: String, texts: [String]) in
            if texts.isEmpty { return }
            members.append(JSONValue.Member(name, .array(texts.sorted().map(JSONValue.string))))
        }
        add("methods", Array(methods))
        add("tables", tables.map(\.text))
        add("items", Array(items))
        if rate < 1, let number = JSONNumber("\(rate)") {
            members.append(JSONValue.Member("rate", .number(number)))
        }
        if skip > 0 {
            members.append(JSONValue.Member("skip", .number(JSONNumber(Int64(skip)))))
        }
        if let count {
            members.append(JSONValue.Member("count", .number(JSONNumber(Int64(count)))))
        }
        return .object(members)
    }

    /// Reads a rule.
    init(json: JSONValue) throws(Refusal) {
        self.init(try FaultKind(json: json))
        guard case .object(let members) = json else { return }
        for member in members where !FaultKind.names.contains(member.name) {
            try set(member)
        }
    }

    private mutating func set(_ member: JSONValue.Member) throws(Refusal) {
        let texts = member.value.array?.compactMap(\.string)
        switch (member.name, member.value) {
        case ("methods", .array): methods = Set(texts ?? [])
        case ("tables", .array): tables = Set((texts ?? []).compactMap { TableName($0) })
        case ("items", .array): items = Set(texts ?? [])
        case ("rate", .number(let number)): rate = Double(number.text) ?? 1
        case ("skip", let value): skip = try value.whole("skip", upTo: Limits.faultedRequests)
        case ("count", let value): count = try value.whole("count", upTo: Limits.faultedRequests)
        default: throw Refusal(400, "'\(member.name)' of a rule is not understood.")
        }
    }
}

extension JSONValue {
    /// The value of a member as a whole number from 0 to a limit.
    fileprivate func whole(_ name: String, upTo limit: Int) throws(Refusal) -> Int {
        guard let number = integer, (0...Int64(limit)).contains(number) else {
            throw Refusal(400, "'\(name)' has to be a whole number from 0 to \(limit).")
        }
        return Int(number)
    }
}

extension FaultKind {
    /// The members that belong to the kind.
    static let names: Set = ["kind", "milliseconds", "status", "retryAfter", "applies", "answer"]

    /// The kind as members of the rule.
    var members: [JSONValue.Member] {
        let member = { (name: String, value: JSONValue) in JSONValue.Member(name, value) }
        let number = { (value: Int) in JSONValue.number(JSONNumber(Int64(value))) }
        switch self {
        case .latency(let milliseconds):
            return [
                member("kind", .string("latency")), member("milliseconds", number(milliseconds)),
            ]
        case .status(let status, let retryAfter, let applies):
            return [
                member("kind", .string("status")), member("status", number(status)),
                member("retryAfter", retryAfter.map(JSONValue.string) ?? .null),
                member("applies", .bool(applies)),
            ]
        case .drop(let applies):
            return [member("kind", .string("drop")), member("applies", .bool(applies))]
        case .duplicate(let answersSecond):
            return [
                member("kind", .string("duplicate")),
                member("answer", .string(answersSecond ? "second" : "first")),
            ]
        case .torn: return [member("kind", .string("torn"))]
        case .portal: return [member("kind", .string("portal"))]
        case .pretend: return [member("kind", .string("pretend"))]
        }
    }

    /// Reads a kind from the members of a rule.
    init(json: JSONValue) throws(Refusal) {
        let applies = json["applies"]?.bool ?? false
        switch json["kind"]?.string {
        case "latency":
            let milliseconds = try json["milliseconds"]?.whole(
                "milliseconds", upTo: Limits.latencyMilliseconds)
            self = .latency(milliseconds: milliseconds ?? 0)
        case "status":
            let after = json["retryAfter"]
            let seconds = after?.integer.map(String.init)
            guard let status = json["status"]?.integer, 200...599 ~= status else {
                throw Refusal(400, "A rule of kind 'status' needs a 'status' from 200 to 599.")
            }
            self = .status(Int(status), retryAfter: after?.string ?? seconds, applies: applies)
        case "drop": self = .drop(applies: applies)
        case "duplicate": self = .duplicate(answersSecond: json["answer"]?.string == "second")
        case "torn": self = .torn
        case "portal": self = .portal
        case "pretend": self = .pretend
        default:
            throw Refusal(
                400,
                "The 'kind' of a rule is latency, status, drop, duplicate, torn, portal or pretend."
            )
        }
    }
}
