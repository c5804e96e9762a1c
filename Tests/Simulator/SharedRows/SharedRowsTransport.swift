import Foundation
import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// The connection from one proxy to the backend of a run of shared rows, with injected faults. `around` is
/// called for each request.
final class SharedRowsTransport: HTTPTransport {
    /// The fault of one request.
    enum Fault: CaseIterable {
        case notSent, answerLost, failsAfter, busy, fails, requiresSignIn
        /// A balancer sends the write a second time, and passes on the answer to that.
        case sentTwice
        /// The write reaches the backend with a later request.
        case arrivesLate
        /// Something in between answers the write with an empty list.
        case emptyAnswer

        /// The faults of any network.
        static let simple = allCases.filter { $0 != .emptyAnswer }
    }

    /// The wrong behaviour of the backend, and how often requests fail.
    struct FaultPlan {
        var faultRate = 0.0
        /// Lists ignore their filter.
        var ignoresFilters = false
        /// The tables do not exist.
        var hasNoTable = false
        /// The table that answers each request with a status, and its Retry-After.
        var failing: (table: TableName, status: Int, retryAfter: String?)?
        /// Every first page contains a row that cannot be applied.
        var hasUnusableRow = false
        /// Pages are refused, but not a list of any rows.
        var refusesPages = false
        /// A row that is requested by its id is not found.
        var hidesRows = false
        /// The number of next lists that are empty and of another generation.
        var strayLists = 0
        /// What a gateway answers to every write from now on, and to every request after the next `after`
        /// writes, with the seconds of its Retry-After.
        var gateway: (status: Int, after: Int, retryAfter: Int?)?

        /// Whether any answer may be wrong or missing.
        var isFaulty: Bool {
            faultRate > 0 || ignoresFilters || hasNoTable || refusesPages || hidesRows
                || strayLists > 0 || failing != nil || gateway != nil
        }
    }

    /// The requests that were counted.
    struct Counts {
        /// Writes.
        var writes = 0
        /// All requests to the table that fails.
        var failing = 0
        /// All requests before the time that a gateway has named.
        var early = 0
    }

    private let base: any HTTPTransport
    private let random: SeededRandom
    /// Draws what only some habits need.
    private let other: SeededRandom
    private let faults: [Fault]
    private let sortsLists: Bool
    private let plan: SharedRowsPlan
    private let clock: ManualClock
    private let state = Mutex(FaultPlan())
    private let counted = Mutex(Counts())
    private let late = Mutex<[Sent]>([])
    private let uncommitted = Mutex<[String: Duration]>([:])
    /// The rows of which the answer to a write was lost.
    private let lost = Mutex<Set<String>>([])
    /// Before which a gateway has asked for no request.
    private let patience = Mutex(Duration.zero)

    /// A request and the time at which the proxy sent it.
    struct Sent: Sendable {
        var request: Request
        var at: Duration
    }

    /// Called for each request, and sends it.
    typealias Around =
        @Sendable (Sent, @Sendable () async throws(TransportError) -> Response)
        async throws(TransportError) -> Response
    let around: Around
    /// Called for each write whose answer the proxy gets.
    let onAnswer: @Sendable (Request, Response) async -> Void

    init(
        _ base: any HTTPTransport, random: SeededRandom, clock: ManualClock, _ plan: SharedRowsPlan,
        onAnswer: @escaping @Sendable (Request, Response) async -> Void, around: @escaping Around
    ) {
        (self.base, self.random, self.clock, self.plan) = (base, random, clock, plan)
        other = SeededRandom(plan.seed &+ 30)
        (faults, sortsLists) = (plan.faults, !plan.habits.contains(.unsortedLists))
        (self.around, self.onAnswer) = (around, onAnswer)
    }

    /// The requests since the counts were set to zero.
    var counts: Counts {
        get { counted.withLock { $0 } }
        set { counted.withLock { $0 = newValue } }
    }

    var faultPlan: FaultPlan {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Leaves a row out of lists for some seconds, as one that was inserted and is not committed.
    func hide(_ id: String, for time: Duration) {
        uncommitted.withLock { $0[id] = clock.uptime() + time }
    }

    /// Whether lists leave a row out now.
    func isHidden(_ id: String) -> Bool {
        uncommitted.withLock { $0[id].map { $0 > clock.uptime() } ?? false }
    }

    /// A page without the rows that are not committed.
    private func committed(_ page: Response) -> Response {
        let now = clock.uptime()
        let hidden = uncommitted.withLock { $0.filter { $0.value > now } }
        guard !hidden.isEmpty, let bytes = page.bytes, var body = try? JSONValue(parsing: bytes)
        else { return page }
        body.removeRows { hidden[$0["id"]?.string ?? ""] != nil }
        return Response(head: page.head, body: Array(body.text.utf8))
    }

    func send(_ request: Request) async throws(TransportError) -> Response {
        do throws(TransportError) {
            let response = try await sendWithFaults(request)
            if request.head.method == .get { return response }
            if response.head.status.code >= 500 { noteLost(request) }
            await onAnswer(request, response)
            return response
        } catch {
            if error.reach == .maybeSent { noteLost(request) }
            throw error
        }
    }

    private func noteLost(_ request: Request) {
        guard let id = request.itemID else { return }
        lost.withLock { _ = $0.insert(id) }
    }

    private func sendWithFaults(_ request: Request) async throws(TransportError) -> Response {
        let plan = faultPlan
        if let answer = gatewayAnswer(to: request) { return answer }
        if self.plan.habits.contains(.insertOnly), request.head.method != .post {
            return notAllowed
        }
        try await deliverLate()
        let isList = request.isList
        let sent = Sent(request: request, at: clock.uptime())
        if request.head.method != .get { counted.withLock { $0.writes += 1 } }
        if let failing = plan.failing, request.table == failing.table.text {
            counted.withLock { $0.failing += 1 }
            var answer = Self.answer(failing.status, "{}")
            answer.head.headerFields[.retryAfter] = failing.retryAfter
            return answer
        }
        if plan.hasNoTable { return Self.answer(404, #"{"error":"no such table"}"#) }
        if request.isPage, plan.refusesPages {
            return Self.answer(403, #"{"error":"not you"}"#)
        }
        if let id = request.readID, let answer = unreadable(id, request) { return answer }
        if !isList, plan.hidesRows, request.head.method == .get {
            return Self.answer(404, #"{"error":"not found"}"#)
        }
        if isList, plan.strayLists > 0 {
            state.withLock { $0.strayLists -= 1 }
            return Self.answer(200, random.happens(0.5) ? "[]" : #"{"items":[]}"#)
        }
        let fault = !faults.isEmpty && random.happens(plan.faultRate) ? random.pick(faults) : nil
        switch fault {
        case .notSent:
            throw TransportError(reach: .notSent, cause: .connect, message: "Connection refused")
        case .busy: return Self.answer(503, "{}")
        case .fails: return Self.answer(500, "{}")
        case .requiresSignIn: return Self.answer(401, "{}")
        case .emptyAnswer where !isList:
            noteLost(request)
            return Self.answer(200, "[]")
        case .emptyAnswer, .answerLost, .failsAfter, .sentTwice, .arrivesLate, nil: break
        }
        if let id = request.readID {
            if isList, let answer = emptyList(id, request, plan) { return answer }
        }
        if isList { return try await list(sent, plan) }
        if fault == .arrivesLate {
            late.withLock { $0.append(sent) }
            throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
        }
        if fault == .sentTwice { _ = try await pass(sent) }
        let response = try await pass(sent)
        switch fault {
        case .answerLost:
            throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
        case .failsAfter: return Self.answer(500, "{}")
        default: return response
        }
    }

    // MARK: What stands in between

    /// The gateway's answer, where it lets nothing pass. A request before the time that it has named is counted.
    private func gatewayAnswer(to request: Request) -> Response? {
        let now = clock.uptime()
        if patience.withLock({ $0 > now }) { counted.withLock { $0.early += 1 } }
        let isWrite = request.head.method != .get
        let gateway = state.withLock { state -> (status: Int, after: Int, retryAfter: Int?)? in
            guard let gateway = state.gateway else { return nil }
            if gateway.after > 0 {
                if isWrite { state.gateway?.after -= 1 }
                return nil
            }
            return gateway
        }
        guard let gateway else { return nil }
        var answer = Self.answer(
            gateway.status,
            #"{"statusCode":\#(gateway.status),"message":"Out of call volume quota."}"#)
        if let seconds = gateway.retryAfter {
            answer.head.headerFields[.retryAfter] = String(seconds)
            patience.withLock { $0 = now + .seconds(seconds) }
        }
        return answer
    }

    /// The refusal of a table that takes inserts alone, which says that it comes from a /tables server.
    private var notAllowed: Response {
        var answer = Self.answer(plan.seed % 2 == 0 ? 403 : 405, #"{"error":"No reads here."}"#)
        if let name = HTTPField.Name("x-zumo-server-version") {
            answer.head.headerFields[name] = "node-5.0.0"
        }
        return answer
    }

    /// Once, an empty list instead of a row of which an answer was lost. Not where the backend hides rows: with
    /// both wrong answers no client could find out whether a row exists.
    private func emptyList(_ id: String, _ request: Request, _ plan: FaultPlan) -> Response? {
        guard self.plan.habits.contains(.emptyLists), !plan.hidesRows,
            lost.withLock({ $0.remove(id) }) != nil, other.happens(0.6)
        else { return nil }
        return listOf("")
    }

    /// The answer to a read of a row that cannot be read by its id: a column twice, another row, or no row.
    private func unreadable(_ id: String, _ request: Request) -> Response? {
        guard plan.isUnreadable(id) else { return nil }
        let row =
            switch id.utf8.reduce(0, { $0 &+ Int($1) }) % 4 {
            case 0: #"{"id":"\#(id)","a":"1","a":"2"}"#
            case 1: #"{"id":"another","a":"1"}"#
            case 2: #"{"a":"1"}"#
            default: #""no row""#
            }
        return request.isList ? listOf(row) : Self.answer(200, row)
    }

    private func listOf(_ row: String) -> Response {
        let isThird = plan.generation == .datasync
        return Self.answer(200, isThird ? #"{"items":[\#(row)]}"# : "[\(row)]")
    }

    /// Writes that are late may arrive now.
    private func deliverLate() async throws(TransportError) {
        let requests = late.withLock { late in
            guard !late.isEmpty, random.happens(0.3) else { return [Sent]() }
            defer { late = [] }
            return late
        }
        for request in requests { _ = try await pass(request) }
    }

    private func pass(_ sent: Sent) async throws(TransportError) -> Response {
        let base = base
        return try await around(sent) { @Sendable () async throws(TransportError) in
            try await base.send(sent.request)
        }
    }

    private func list(
        _ sent: Sent, _ plan: FaultPlan
    ) async throws(TransportError) -> Response {
        var sent = sent
        var request = sent.request
        let path = request.head.path ?? ""
        if plan.ignoresFilters, path.contains("id%20eq"), let mark = path.firstIndex(of: "?") {
            // Other rows, deleted ones too, but usually not the one that was requested.
            request.head.path =
                path[..<mark] + "?__includeDeleted=true&$top=1"
                + (sortsLists ? "&$orderby=id%20desc" : "")
                + (path.contains("__systemproperties") ? "&__systemproperties=*" : "")
        }
        sent.request = request
        var response = try await pass(sent)
        if request.isPage { response = committed(response) }
        // An old row, which is at the beginning of a list that begins with the oldest.
        // `$skip` would not count it in a list by id.
        let isBeginning = !["$skip", "pdatedAt%20g", "id%20gt", "$orderby=id&"].contains(
            where: path.contains)
        guard plan.hasUnusableRow, request.isPage, isBeginning,
            let bytes = response.bytes,
            let bracket = bytes.firstIndex(of: UInt8(ascii: "["))
        else { return response }
        let unusable = #"{"id":"a/b","updatedAt":"2020-01-01T00:00:00.000Z","version":"v"}"#
        let isEmpty = bytes[(bracket + 1)...].first == UInt8(ascii: "]")
        var with = bytes
        with.insert(contentsOf: Array((unusable + (isEmpty ? "" : ",")).utf8), at: bracket + 1)
        return Response(head: response.head, body: with)
    }

    private static func answer(_ status: Int, _ body: String) -> Response {
        Response(
            status: .init(code: status), headerFields: [.contentType: "application/json"],
            body: Array(body.utf8))
    }
}

extension JSONValue {
    /// Removes rows of a list, which may be a member of the answer.
    fileprivate mutating func removeRows(where isRemoved: (JSONValue) -> Bool) {
        switch self {
        case .array(let rows): self = .array(rows.filter { !isRemoved($0) })
        case .object(var members):
            for index in members.indices where members[index].value.array != nil {
                members[index].value.removeRows(where: isRemoved)
            }
            self = .object(members)
        case .null, .bool, .number, .string: break
        }
    }
}

extension Request {
    /// The segments of the path: `tables`, the table and perhaps an item.
    private var segments: [Substring] {
        let path = head.path ?? ""
        return path[..<(path.firstIndex(of: "?") ?? path.endIndex)].split(separator: "/")
    }

    /// The table.
    var table: String { segments.dropFirst().first.map(String.init) ?? "" }

    /// The item in the path; nil for the table itself.
    var itemID: String? {
        segments.dropFirst(2).first.map { $0.removingPercentEncoding ?? String($0) }
    }

    /// The item that it reads, alone or by a list; nil for any other request.
    var readID: String? {
        guard head.method == .get else { return nil }
        if let itemID { return itemID }
        let path = head.path ?? ""
        guard let range = path.firstRange(of: "id%20eq%20'") else { return nil }
        return path[range.upperBound...].prefix { $0 != "'" }.removingPercentEncoding
    }

    /// Whether it asks for a list.
    var isList: Bool { head.method == .get && segments.count == 2 }

    /// Whether it asks for a page of a pull, rather than for one row or a proof.
    var isPage: Bool {
        isList && !(head.path ?? "").contains("id%20eq") && !(head.path ?? "").contains("$top=1&")
            && !(head.path ?? "").hasSuffix("$top=1")
    }

    /// The id of the operation that it is sent for.
    var opID: String { HTTPField.Name("Idempotency-Key").flatMap { head.headerFields[$0] } ?? "" }
}

/// One proxy of a run of shared rows, with a client that keeps its rows and syncs with the proxy.
final class SharedRowsProxy: Sendable {
    let number: Int
    let store: Store
    let engine: SyncEngine
    let transport: SharedRowsTransport
    private let plan: SharedRowsPlan
    private let tables: [TableName]

    init(
        _ number: Int, _ plan: SharedRowsPlan, _ tables: [TableName], rootFolder: String,
        transport: SharedRowsTransport, clock: ManualClock
    ) throws {
        (self.number, self.plan, self.tables, self.transport) = (number, plan, tables, transport)
        let ids = SeededRandom(plan.seed &+ 20 &+ UInt64(number))
        store = try Store(
            at: "\(rootFolder)/\(number).sqlite", identity: "anonymous", clock: clock, ids: ids,
            workers: 1)
        var log = Logger(label: "simulation")
        log.logLevel = .critical
        engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(address: Simulation.address),
            settings: SyncSettings(
                triggers: [.manual], parallelism: 1, tables: tables, pageRows: plan.pageRows,
                checkCopies: plan.checksCopies ? .seconds(3_600) : nil),
            clock: clock, random: ids, log: log)
    }

    /// The rows that are not deleted, by name.
    func rows() async throws -> [String: Item] {
        try await stored().compactMapValues { $0.item.deleted ? nil : $0.item }
    }

    /// All rows by name. Of a row with a tombstone under an earlier id, the row.
    func stored() async throws -> [String: Store.StoredRow] {
        var named: [String: Store.StoredRow] = [:]
        for (table, rows) in try await store.rows(of: tables) {
            for row in rows {
                let name = plan.name(of: row.item, in: table)
                let known = named[name]
                if let known, !known.item.deleted || known.isPending && row.item.deleted {
                    continue
                }
                named[name] = row
            }
        }
        return named
    }

    /// The name of the row with an id of this store; the id where it has none.
    func name(of id: String, in table: String) async throws -> String {
        guard table == Simulation.table.text, plan.hasIntegerIDs(Simulation.table) else {
            return plan.name(ofID: id)
        }
        let rows = try await store.rows(of: [Simulation.table])[Simulation.table] ?? []
        let item = rows.first { $0.item.id.text == id }?.item
        return item.map { plan.name(of: $0, in: Simulation.table) } ?? id
    }
}
