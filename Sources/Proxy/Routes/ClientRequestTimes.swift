import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Counts the clients' requests to `/tables` and their durations since the start, by table, verb and status.
///
/// The number of series is bounded. A table has its own once a request for it succeeded, at most
/// ``Limits/measuredTables``; all other requests count for the table `other`.
final class ClientRequestTimes: Sendable {
    /// The requests that one histogram counts.
    struct Series: Sendable, Hashable {
        /// The table as first spelled, or ``other``.
        var table: String
        var verb: ClientVerb
        /// The status of the answer; nil if the connection closed before.
        var status: Int?
    }

    /// The table of requests that are counted together.
    static let other = "other"

    private struct State {
        var histograms: [Series: DurationHistogram] = [:]
        /// The tables with series of their own, each as first spelled.
        var names: [TableName: String] = [:]
    }
    private let state = Mutex(State())

    /// Counts a request that has ended. A request that is not for `/tables` is ignored.
    /// - Parameters:
    ///   - status: the status of the answer; nil if there was none.
    ///   - time: from the request's first line until the answer was sent or the connection closed.
    func note(_ head: HTTPRequest, status: Int?, took time: Duration) {
        let request = AddressedRequest(Request(head: head)).request
        guard TablePath.isTables(request.path) else { return }
        let path = try? TablePath(request.path)
        let verb = ClientVerb(head.method, namesItem: path?.id != nil)
        let isSuccess = status.map { (200..<300).contains($0) } ?? false
        state.withLock { state in
            var name: String?
            if let table = path?.table { name = Self.name(of: table, isSuccess: isSuccess, &state) }
            let series = Series(table: name ?? Self.other, verb: verb, status: status)
            state.histograms[
                series,
                default: DurationHistogram(boundsMilliseconds: Limits.clientTimeBoundsMilliseconds)
            ].note(time)
        }
    }

    private static func name(
        of table: TableName, isSuccess: Bool, _ state: inout State
    ) -> String? {
        if let name = state.names[table] { return name }
        guard isSuccess, state.names.count < Limits.measuredTables else { return nil }
        state.names[table] = table.text
        return table.text
    }

    /// The histograms, in the order of their labels.
    var all: [(series: Series, histogram: DurationHistogram)] {
        state.withLock { $0.histograms }
            .map { (series: $0.key, histogram: $0.value) }
            .sorted { $0.series.order < $1.series.order }
    }
}

extension ClientRequestTimes.Series {
    fileprivate var order: (String, String, Int) { (table, verb.rawValue, status ?? 0) }
}

/// What a client wants of a table, by method and path.
enum ClientVerb: String, Sendable, Hashable, CaseIterable {
    case list, get, insert, update, replace, delete, undelete, options, other

    /// - Parameter namesItem: whether the path names an item.
    init(_ method: HTTPRequest.Method, namesItem: Bool) {
        self =
            switch method {
            case .get, .head: namesItem ? .get : .list
            case .post: namesItem ? .undelete : .insert
            case .patch: .update
            case .put: .replace
            case .delete: .delete
            case .options: .options
            default: .other
            }
    }
}
