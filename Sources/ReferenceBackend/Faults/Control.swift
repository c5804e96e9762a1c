/// What may be changed while the backend runs.
struct Control: Sendable {
    /// Requests received so far, by method.
    var requests: [String: Int] = [:]
}
