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

    private struct Counts {
        var histograms: [Series: DurationHistogram] = [:]
        /// The tables with series of their own that this worker has met, each as first spelled.
        var names: [TableName: String] = [:]
    }
    private let counts = WorkerCopies(Counts())
    /// The tables with series of their own, each as first spelled.
    private let names = Mutex<[TableName: String]>([:])

    /// Counts a request that has ended. A request that is not for `/tables` is ignored.
    /// - Parameters:
    ///   - status: the status of the answer; nil if there was none.
    ///   - time: from the request's first line until the answer was sent or the connection closed.
    func note(_ asked: AddressedRequest, status: Int?, took time: Duration) {
        guard let head = asked.tables, asked.pathBelowItem == nil else { return }
        let path = try? head.path.get()
        let verb = ClientVerb(asked.request.head.method, namesItem: path?.id != nil)
        let isSuccess = status.map { (200..<300).contains($0) } ?? false
        counts.withCopy(of: asked.request.connection.worker) { counts in
            var name: String?
            if let table = path?.table {
                name = counts.names[table] ?? self.name(of: table, isSuccess: isSuccess)
                counts.names[table] = name
            }
            let series = Series(table: name ?? Self.other, verb: verb, status: status)
            counts.histograms[
                series,
                default: DurationHistogram(boundsMilliseconds: Limits.clientTimeBoundsMilliseconds)
            ].note(time)
        }
    }

    /// The name under which a table is counted, for all workers; nil for one without series of its own.
    private func name(of table: TableName, isSuccess: Bool) -> String? {
        names.withLock { names in
            if let name = names[table] { return name }
            guard isSuccess, names.count < Limits.measuredTables else { return nil }
            names[table] = table.text
            return table.text
        }
    }

    /// The histograms of all workers together, in the order of their labels.
    var all: [(series: Series, histogram: DurationHistogram)] {
        counts.all.reduce(into: [Series: DurationHistogram]()) { sums, counts in
            sums.merge(counts.histograms) { sum, more in
                var sum = sum
                sum.add(more)
                return sum
            }
        }
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
