import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// Counts the durations of requests on tables by table, verb and status, and the refused requests and
/// tokens by reason.
final class RequestMeter: Sendable {
    /// The key of requests that are counted together.
    struct Label: Sendable, Hashable, Comparable {
        let table: String
        let verb: String
        let status: Int

        static func < (left: Label, right: Label) -> Bool {
            (left.table, left.verb, left.status) < (right.table, right.verb, right.status)
        }
    }

    /// The requests of one label.
    struct Times: Sendable, Hashable {
        /// The numbers of requests that took at most each bound.
        fileprivate(set) var counts = [Int](repeating: 0, count: RequestMeter.bounds.count)
        /// The number of requests.
        fileprivate(set) var count = 0
        /// The sum of the durations, in seconds.
        fileprivate(set) var seconds = 0.0

        fileprivate mutating func add(_ seconds: Double) {
            count += 1
            self.seconds += seconds
            for (place, bound) in RequestMeter.bounds.enumerated() where seconds <= bound {
                counts[place] += 1
            }
        }
    }

    /// The bounds of the histogram, in seconds.
    static let bounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ]

    /// The table of requests whose table would be one too many.
    static let otherTables = "(other)"

    private struct State {
        var times: [Label: Times] = [:]
        var tables: Set<String> = []
        var refusedTokens: [String: Int] = [:]
        var rejectedRequests: [String: Int] = [:]
        var limitedRequests: [String: Int] = [:]
    }
    private let state = Mutex(State())

    /// All that was counted since the start.
    var all: [Label: Times] { state.withLock { $0.times } }

    /// The numbers of refused tokens, by the reason's name.
    var refusedTokens: [String: Int] { state.withLock { $0.refusedTokens } }

    /// The numbers of requests that the server itself refused, by the reason's name.
    var rejectedRequests: [String: Int] { state.withLock { $0.rejectedRequests } }

    /// The numbers of requests beyond what one client may have, by the limit's name.
    var limitedRequests: [String: Int] { state.withLock { $0.limitedRequests } }

    /// Counts a request beyond what its client may have.
    func count(limited reason: String) {
        state.withLock { $0.limitedRequests[reason, default: 0] += 1 }
    }

    /// Counts a token that is not accepted.
    func count(_ reason: TokenRefusal) {
        state.withLock { $0.refusedTokens["\(reason)", default: 0] += 1 }
    }

    /// Counts a request that the server refused by itself.
    func count(rejected reason: String) {
        state.withLock { $0.rejectedRequests[reason, default: 0] += 1 }
    }

    /// Counts a request. Clients can invent names of tables, so at most ``Limits/meteredTables`` are kept,
    /// each from its first read or write that succeeds. Refused requests add no name, nor do preflights,
    /// which succeed for every name.
    func add(_ call: Call, status: Int, seconds: Double) {
        let name: TableName
        let isOnItem: Bool
        switch call.route {
        case .table(let table): (name, isOnItem) = (table, false)
        case .item(let table, _): (name, isOnItem) = (table, true)
        case .faults, .effects, .other: return
        }
        let operation = TableOptions.Operation(call.method, onItem: isOnItem)
        let verb = operation?.rawValue ?? "other"
        state.withLock { state in
            let isNamed =
                status != HTTPResponse.Status.notFound.code
                && (state.tables.contains(name.key)
                    || operation != nil && status < 400
                        && state.tables.count < Limits.meteredTables)
            if isNamed { state.tables.insert(name.key) }
            let table = isNamed ? name.key : Self.otherTables
            state.times[Label(table: table, verb: verb, status: status), default: Times()]
                .add(seconds)
        }
    }
}
