public import TablesProtocol

/// One thing that goes wrong, and for which requests.
public struct FaultRule: Sendable, Hashable {
    /// What goes wrong.
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

    /// What a rule looks at.
    struct Subject: Sendable, Hashable {
        var method: String
        var table: TableName?
        var item: String?
    }

    /// What goes wrong.
    public var kind: Kind
    /// Only these methods; empty for all.
    public var methods: Set<String>
    /// Only these tables; empty for all.
    public var tables: Set<TableName>
    /// Only the items with these ids in the path; empty for all.
    public var items: Set<String>
    /// With which probability the rule acts on a request that it matches, 0 to 1.
    public var rate: Double
    /// How many matching requests pass before the rule begins to act.
    public var skip: Int
    /// How many more times the rule acts; nil for always.
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
