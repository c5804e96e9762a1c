import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// The faults that act, and the counts of requests.
private struct FaultState: Sendable {
    /// The faults that act now.
    var faults = Faults.none
    /// Requests on tables received so far, by method, those that were dropped among them. A client can send
    /// any word as a method, so those of no table are counted together, as `other`.
    private(set) var requests: [String: Int] = [:]
    private static let countedMethods: Set = [
        "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE",
    ]

    /// Counts a request and decides what happens to it.
    mutating func plan(_ call: Call, happens: (Double) -> Bool) -> FaultPlan {
        let method = call.method.rawValue
        requests[Self.countedMethods.contains(method) ? method : "other", default: 0] += 1
        let subject =
            switch call.route {
            case .table(let name): FaultRule.Subject(method: method, table: name)
            case .item(let name, let id): FaultRule.Subject(method: method, table: name, item: id)
            case .faults, .effects, .other: FaultRule.Subject(method: method)
            }
        return faults.plan(subject, happens: happens)
    }
}

/// The faults of a backend, and its own paths where they are set and effects are read.
final class FaultControl: Sendable {
    private let options: BackendOptions
    private let storage: any RowStorage
    private let random: SharedRandom
    private let state = Mutex(FaultState())

    init(_ options: BackendOptions, _ storage: any RowStorage, _ random: SharedRandom) {
        (self.options, self.storage, self.random) = (options, storage, random)
    }

    /// The faults that act from now on.
    var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// How many requests came, by method.
    var requestCounts: [String: Int] { state.withLock { $0.requests } }

    /// Counts a request and decides what happens to it.
    func plan(_ call: Call) -> FaultPlan {
        state.withLock { state in
            state.plan(call) { probability in random.happens(probability) }
        }
    }

    /// Answers the backend's own paths, which exist only when the options say so; nil for others.
    func answer(_ call: Call) -> Response? {
        guard options.servesFaults else { return nil }
        switch (call.route, call.method) {
        case (.faults, .get): return control(200, faults.json)
        case (.faults, .put): return putFaults(call)
        case (.faults, .delete):
            faults = .none
            return control(200, faults.json)
        case (.effects, .get): return effectsAnswer(call)
        case (.faults, _), (.effects, _):
            return control(405, error("Only GET, PUT and DELETE are understood here."))
        case (.table, _), (.item, _), (.other, _): return nil
        }
    }

    private func putFaults(_ call: Call) -> Response {
        do {
            faults = try Faults(json: try JSONValue(parsing: call.request.body))
            return control(200, faults.json)
        } catch let refusal as Refusal {
            return control(400, error(refusal.message))
        } catch {
            return control(400, self.error("\(error)"))
        }
    }

    private func effectsAnswer(_ call: Call) -> Response {
        let after = call.parameter("after").flatMap { Int64($0) } ?? 0
        do {
            let effects = try storage.effects(after: after, limit: Limits.effectsPage)
            let counts = requestCounts.sorted { $0.key < $1.key }.map { count in
                JSONValue.Member(count.key, .number(JSONNumber(Int64(count.value))))
            }
            return control(
                200,
                .object([
                    JSONValue.Member("effects", .array(effects.map(\.json))),
                    JSONValue.Member("requests", .object(counts)),
                ]))
        } catch {
            return control(500, self.error("\(error)"))
        }
    }

    private func error(_ sentence: String) -> JSONValue {
        .object([JSONValue.Member("error", .string(sentence))])
    }

    private func control(_ status: Int, _ body: JSONValue) -> Response {
        Response(
            status: .init(code: status), headerFields: [.contentType: "application/json"],
            body: Array(body.text.utf8))
    }
}

extension Effect {
    /// The effect as `GET /-/effects` shows it.
    var json: JSONValue {
        .object([
            JSONValue.Member("number", .number(JSONNumber(number))),
            JSONValue.Member("table", .string(table)),
            JSONValue.Member("id", .string(itemID)),
            JSONValue.Member("kind", .string(kind.rawValue)),
            JSONValue.Member("method", .string(method)),
            JSONValue.Member("idempotencyKey", idempotencyKey.map(JSONValue.string) ?? .null),
            JSONValue.Member("at", .string(at.text)),
        ])
    }
}
