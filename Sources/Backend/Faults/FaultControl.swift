import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// The settings that may change while the backend runs, and its counts.
struct Control: Sendable {
    /// The faults that act now.
    var faults = Faults.none
    /// The budget of requests a second; nil takes all.
    var budget: RequestBudget?
    /// Requests on tables received so far, by method, those that were dropped among them. A client can send
    /// any word as a method, so those of no table are counted together, as `other`.
    private(set) var requests: [String: Int] = [:]
    private static let countedMethods: Set = [
        "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE",
    ]

    /// - Parameter budget: nil where all requests are taken.
    init(budget: RequestBudget?) { self.budget = budget }

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

extension TablesBackend {
    /// Answers the backend's own paths, which exist only when the options say so; nil for others.
    func controlAnswer(_ call: Call) -> Response? {
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
            let effects = try effects(after: after, limit: Limits.effectsPage)
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

extension TablesBackend {
    /// Serves a request with what is planned to go wrong.
    func serve(_ call: Call, _ fault: FaultKind?) -> Response {
        switch fault {
        case nil, .latency: return serve(call)
        case .status(let status, let retryAfter, let applies):
            if applies { _ = serve(call) }
            return refused(call, status, retryAfter)
        case .drop(let applies):
            if applies { _ = serve(call) }
            return Response.torn(HTTPResponse(status: .ok), [])
        case .duplicate(let answersSecond):
            let first = serve(call)
            let second = serve(call)
            return answersSecond ? second : first
        case .torn:
            let whole = serve(call)
            let bytes = whole.bytes ?? []
            return Response.torn(whole.head, Array(bytes.prefix(bytes.count / 2)))
        case .portal:
            return Response(
                status: .ok, headerFields: [.contentType: "text/html"],
                body: Array(Self.portalPage.utf8))
        case .pretend: return serve(call, keeping: false)
        }
    }

    private func refused(_ call: Call, _ status: Int, _ retryAfter: String?) -> Response {
        let message = HTTPResponse.Status(code: status).reasonPhrase
        var response = answerer(call, nil).refused(Refusal(status, message))
        if let retryAfter { response.head.headerFields[.retryAfter] = retryAfter }
        return response
    }

    private static let portalPage = """
        <!DOCTYPE html><html><head><title>Welcome</title></head>
        <body><form action="/login">Please accept the terms of this network.</form></body></html>
        """
}

extension Response {
    /// A response whose body breaks off after these bytes; with none, a connection that is closed
    /// without an answer.
    static func torn(_ head: HTTPResponse, _ bytes: [UInt8]) -> Response {
        let stream = ByteStream(capacityBytes: max(bytes.count, 1))
        stream.write(bytes)
        stream.fail()
        return Response(head: head, stream: stream)
    }
}
