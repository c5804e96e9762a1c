import TablesProtocol

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
        self.init(try Kind(json: json))
        guard case .object(let members) = json else { return }
        for member in members where !Kind.names.contains(member.name) {
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

extension FaultRule.Kind {
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
