import Synchronization
public import TablesProtocol

/// A request that failed, as evidence for a person.
public struct FailedRequest: Sendable, Hashable {
    /// The method.
    public var method: String
    /// The path and query at the backend's host.
    public var path: String
    /// The status; nil when no answer came.
    public var status: Int?
    /// When it ended.
    public var at: Instant
}

/// The last request that failed for each table, while a pass runs.
final class FailedRequests: Sendable {
    private let last = Mutex<[String: FailedRequest]>([:])

    /// Adds a request.
    /// - Parameter prefix: the path before the names of tables.
    func note(_ request: FailedRequest, to prefix: String) {
        let name = request.path.dropFirst(prefix.count).prefix { $0 != "/" && $0 != "?" }
        last.withLock { $0[name.lowercased()] = request }
    }

    /// The last one for a table; nil if there was none.
    func last(of table: TableName) -> FailedRequest? { last.withLock { $0[table.key] } }
}

extension RemoteAnswer {
    /// Whether the request failed, so that there is neither a row nor a verdict.
    var isFailure: Bool {
        switch self {
        case .row, .rows, .empty, .conflict, .missing, .rejected: false
        case .unauthorized, .failed, .unavailable, .unusable, .unreachable: true
        }
    }
}
