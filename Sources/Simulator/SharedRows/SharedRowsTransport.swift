import HTTPMessage
import HTTPTypes
import Synchronization

/// The way from one proxy to the backend of a run of shared rows: what goes wrong with it, and who is
/// told of each row that changed on it.
final class SharedRowsTransport: HTTPTransport {
    /// What goes wrong with one request.
    enum Fault: CaseIterable {
        case notSent, answerLost, failsAfter, busy, fails, wantsSignIn
    }

    /// What may be wrong with the backend for a while.
    struct Mood {
        var faultRate = 0.0
        /// Lists come without their filter being kept to.
        var ignoresFilters = false
        /// The table is not there.
        var hasNoTable = false
        /// A row that no store can take is in every page.
        var hasOddRow = false
        /// Pages are refused, and a list of any rows is not.
        var refusesPages = false
        /// A row that is asked for by its id is not found.
        var hidesRows = false
        /// The next list is an empty one of another kind.
        var strayLists = 0
    }

    private let base: any HTTPTransport
    private let random: SeededRandom
    private let faults: [Fault]
    private let state = Mutex(Mood())
    /// Called around each request, while it is under way.
    let around:
        @Sendable (Request, @Sendable () async throws(TransportError) -> Response)
            async throws(TransportError) -> Response

    init(
        _ base: any HTTPTransport, random: SeededRandom, faults: [Fault],
        around:
            @escaping @Sendable (Request, @Sendable () async throws(TransportError) -> Response)
            async throws(TransportError) -> Response
    ) {
        (self.base, self.random, self.faults, self.around) = (base, random, faults, around)
    }

    var mood: Mood {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        let mood = mood
        let path = request.head.path ?? ""
        let isList = request.head.method == .get && !path.contains("/todoitem/")
        if mood.hasNoTable { return Self.answer(404, #"{"error":"no such table"}"#) }
        if isList, mood.refusesPages, path.contains("$orderby") {
            return Self.answer(403, #"{"error":"not you"}"#)
        }
        if !isList, mood.hidesRows, request.head.method == .get {
            return Self.answer(404, #"{"error":"not found"}"#)
        }
        if isList, mood.strayLists > 0 {
            state.withLock { $0.strayLists -= 1 }
            return Self.answer(200, random.happens(0.5) ? "[]" : #"{"items":[]}"#)
        }
        let fault = random.happens(mood.faultRate) ? random.pick(faults) : nil
        switch fault {
        case .notSent:
            throw TransportError(reach: .notSent, cause: .connect, message: "Connection refused")
        case .busy: return Self.answer(503, "{}")
        case .fails: return Self.answer(500, "{}")
        case .wantsSignIn: return Self.answer(401, "{}")
        case .answerLost, .failsAfter, nil: break
        }
        if isList { return try await list(request, mood) }
        let response = try await pass(request)
        switch fault {
        case .answerLost:
            throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
        case .failsAfter: return Self.answer(500, "{}")
        default: return response
        }
    }

    private func pass(_ request: Request) async throws(TransportError) -> Response {
        let base = base
        return try await around(request) { @Sendable () async throws(TransportError) in
            try await base.send(request)
        }
    }

    private func list(_ request: Request, _ mood: Mood) async throws(TransportError) -> Response {
        var request = request
        let path = request.head.path ?? ""
        if mood.ignoresFilters, path.contains("id%20eq"), let mark = path.firstIndex(of: "?") {
            // The rows that a page of another size would have, deleted ones too, but never the one asked for.
            request.head.path =
                path[..<mark] + "?__includeDeleted=true&$top=1&$orderby=id%20desc"
                + (path.contains("__systemproperties") ? "&__systemproperties=*" : "")
        }
        let response = try await pass(request)
        // An old row, which comes where a list begins with the oldest.
        let isBeginning = !path.contains("$skip") && !path.contains("pdatedAt%20g")
        guard mood.hasOddRow, path.contains("$orderby"), isBeginning, let bytes = response.bytes,
            let bracket = bytes.firstIndex(of: UInt8(ascii: "["))
        else { return response }
        let odd = #"{"id":"a/b","updatedAt":"2020-01-01T00:00:00.000Z","version":"v"}"#
        let isEmpty = bytes[(bracket + 1)...].first == UInt8(ascii: "]")
        var with = bytes
        with.insert(contentsOf: Array((odd + (isEmpty ? "" : ",")).utf8), at: bracket + 1)
        return Response(head: response.head, body: with)
    }

    private static func answer(_ status: Int, _ body: String) -> Response {
        Response(
            status: .init(code: status), headerFields: [.contentType: "application/json"],
            body: Array(body.utf8))
    }
}
