import HTTPTypes

/// What may change while the backend runs, and what it counts.
struct Control: Sendable {
    /// What goes wrong now.
    var faults = Faults.none
    /// Requests on tables received so far, by method, those that were dropped among them.
    var requests: [String: Int] = [:]

    /// Counts a request and decides what happens to it.
    mutating func plan(_ call: Call, happens: (Double) -> Bool) -> FaultPlan {
        let method = call.method.rawValue
        requests[method, default: 0] += 1
        let subject =
            switch call.route {
            case .table(let name): FaultRule.Subject(method: method, table: name)
            case .item(let name, let id): FaultRule.Subject(method: method, table: name, item: id)
            case .faults, .effects, .other: FaultRule.Subject(method: method)
            }
        return faults.plan(subject, happens: happens)
    }
}
