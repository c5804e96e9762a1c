import HTTPMessage
import HTTPTypes
import Storage
import Synchronization
public import TablesProtocol

/// The connection to the backend: typed requests out, answers as values back.
struct Remote: Sendable {
    var transport: any HTTPTransport
    var address: BackendAddress
    var generation: Generation
    var applicationKey: String?
    var credential: Credential
    var clock: any EngineClock
    var meter = Meter()
    /// The requests that failed, for this connection and its copies.
    var failures = FailedRequests()
    /// The header fields of the client whose operation is sent. Fields of the request itself take
    /// precedence.
    var clientFields: HTTPFields = [:]

    /// Sends a request and reads its answer. A missing answer is a value too.
    func send(_ request: RemoteRequest, asList: Bool) async -> RemoteExchange {
        let start = clock.uptime()
        let exchange = await exchange(request, asList: asList)
        meter.note(
            exchange.answer, of: exchange.response?.serverVersion, took: clock.uptime() - start)
        if asList ? !exchange.answer.isList : exchange.answer.isFailure {
            failures.note(
                FailedRequest(
                    method: request.method.rawValue, path: address.prefix + request.target,
                    status: exchange.status, at: clock.now(),
                    isOfTables: exchange.response?.serverVersion != nil),
                to: address.prefix + "/tables/")
        }
        return exchange
    }

    private func exchange(_ request: RemoteRequest, asList: Bool) async -> RemoteExchange {
        do throws(TransportError) {
            let response = try await transport.send(bound(request))
            let reader = AnswerReader(
                generation: generation, now: clock.now(), isRead: request.method == .get)
            return RemoteExchange(
                answer: asList
                    ? reader.list(response, of: request.target.prefix { $0 != "?" })
                    : reader.write(response),
                response: response, status: response.head.status.code,
                excerpt: Self.excerpt(response),
                fields: RecordedFields.lines(response.head.headerFields))
        } catch {
            return RemoteExchange(answer: .unreachable(error))
        }
    }

    /// Asks for the stream of changes. The answer may be anything else, and is not counted.
    func openChanges() async throws(TransportError) -> Response {
        var request = bound(
            RemoteRequest(method: .get, target: "/tables/\(ChangeStream.name)"))
        request.head.headerFields[.accept] = ChangeStream.mediaType
        request.head.headerFields[.cacheControl] = "no-store"
        return try await transport.open(request)
    }

    /// Requests a page of rows. A query that the generation cannot express counts as refused.
    func list(_ table: TableName, _ query: PageQuery) async -> RemoteAnswer {
        do throws(ODataError) {
            let request = try RemoteRequest.list(table, query, generation: generation)
            return await send(request, asList: true).answer
        } catch {
            return .rejected(status: 400, text: error.description)
        }
    }

    /// The record of an attempt that sends a request.
    func attempt(_ request: RemoteRequest) -> AttemptStart {
        AttemptStart(
            method: request.method.rawValue, target: request.target, body: request.body,
            fields: RecordedFields.lines(bound(request).head.headerFields))
    }

    /// The request with the address, the credential and the fields of the generation.
    private func bound(_ request: RemoteRequest) -> Request {
        var fields = clientFields
        for field in request.fields { fields[field.name] = field.value }
        var head = HTTPRequest(
            method: request.method, scheme: address.scheme, authority: address.authority,
            path: address.prefix + request.target, headerFields: fields)
        head.headerFields[.accept] = "application/json"
        switch generation {
        case .mobileServices:
            if let key = applicationKey { head.headerFields.set("X-ZUMO-APPLICATION", key) }
        case .mobileApps: head.headerFields.set("ZUMO-API-VERSION", "2.0.0")
        case .datasync: head.headerFields.set("ZUMO-API-VERSION", "3.0.0")
        }
        if case .token(let field) = credential {
            for field in field.token(for: generation) {
                head.headerFields[field.name] = field.value
            }
        }
        if request.body != nil { head.headerFields[.contentType] = "application/json" }
        return Request(head: head, body: request.body.map { Array($0.text.utf8) } ?? [])
    }

    private static func excerpt(_ response: Response) -> String? {
        guard let bytes = response.bytes, !bytes.isEmpty else { return nil }
        return String(decoding: bytes.prefix(SyncLimits.excerptBytes), as: UTF8.self)
    }
}

extension Remote {
    /// What an answer proves about one row: a list with the row, or an empty list.
    ///
    /// 1. The row itself is proof, in whichever spelling of its id the backend gives it.
    /// 2. A list without the row is none: something between us and the backend may have answered, and a list of
    ///    other rows ignored the filter, or the backend holds two spellings of the id equal. The row is then
    ///    requested by its id (``RemoteAnswer/isAbsence``). Node servers deny a deleted row there, so one that the
    ///    list has in another spelling is the row.
    /// 3. If that request fails, its answer is returned. Any other answer to it confirms nothing.
    /// 4. An answer that is no list is no proof and is returned unchanged.
    func proof(
        _ answer: RemoteAnswer, of id: ItemID, in table: TableName
    ) async -> RemoteAnswer {
        guard case .rows(let page) = answer else { return answer }
        if let row = page.rows.first(where: { $0.id == id }) {
            return .rows(RemotePage(elements: [.row(row)], hasNext: false))
        }
        let single = await row(id, in: table)
        switch single {
        case .row(let row) where row.id.isLike(id):
            return .rows(RemotePage(elements: [.row(row)], hasNext: false))
        case .missing where single.isAbsence:
            let deleted = page.elements.filter {
                $0.row.map { $0.isDeleted && $0.id.isLike(id) } ?? false
            }
            return .rows(RemotePage(elements: Array(deleted.prefix(1)), hasNext: false))
        case .failed, .unavailable, .unreachable: return single
        case .row, .rows, .empty, .conflict, .missing, .unauthorized, .rejected, .unusable:
            return .unusable(status: 200, .unconfirmed)
        }
    }

    /// Requests one row by its id, deleted or not.
    func row(_ id: ItemID, in table: TableName) async -> RemoteAnswer {
        var pairs = ["__includeDeleted=true"]
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        let path = "/tables/\(table.text)/\(PercentCoding.encode(id.text))"
        let request = RemoteRequest(
            method: .get, target: path + "?" + pairs.joined(separator: "&"))
        return await send(request, asList: false).answer
    }

    /// The rows above an id: the first page and all pages after it.
    func rest(
        of answer: RemoteAnswer, of table: TableName, after highest: Int64
    ) async -> RemoteAnswer {
        guard case .rows(var whole) = answer else { return answer }
        var last = whole
        var reached = highest
        while let next = last.elements.compactMap({ $0.itemID?.number }).max(), next > reached {
            reached = next
            let answer = await list(table, IntegerInsert.since(next))
            guard case .rows(let page) = answer else { return answer }
            whole.elements += page.elements
            last = page
        }
        return .rows(whole)
    }
}

/// A request that failed, as evidence for a person.
public struct FailedRequest: Sendable, Hashable {
    public var method: String
    /// The path and query at the backend's host.
    public var path: String
    /// The status; nil when no answer came.
    public var status: Int?
    public var at: Instant
    /// Whether the answer says that it is of a /tables server.
    var isOfTables = false
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
    /// Whether the answer to a read by id means that the table has no such row: 404 or 410. Express answers so, with
    /// a sentence of its own, where it has no such path, and so does a page.
    var isAbsence: Bool {
        guard case .missing(_, let text) = self else { return false }
        return !text.hasPrefix("Cannot GET ") && text != Unusable.html.words
    }

    /// Whether the request failed, so that there is neither a row nor a verdict.
    var isFailure: Bool {
        switch self {
        case .row, .rows, .empty, .conflict, .missing, .rejected: false
        case .unauthorized, .failed, .unavailable, .unusable, .unreachable: true
        }
    }
}

/// The backend that the store belongs to: seven values of `meta`.
struct BackendBinding: InTransaction {
    let transaction: Transaction

    private static let addressKey = "backend.address"
    private static let provenKey = "backend.proven"
    private static let generationKey = "backend.generation"
    private static let serverKey = "backend.server"
    private static let notBeforeKey = "backend.notBefore"
    private static let ownerKey = "backend.owner"
    private static let takersKey = "backend.takers"

    /// Binds the store to a backend. A bound backend that never answered as /tables is replaced.
    func bind(to address: BackendAddress) throws -> Binding {
        let bound = try meta(Self.addressKey)
        if bound == address.description { return .bound }
        if let bound, try meta(Self.provenKey) != nil { return .other(bound) }
        try setMeta(Self.addressKey, address.description)
        try removeMeta(Self.generationKey)
        try removeMeta(Self.takersKey)
        try setNotBefore(nil)
        try transaction.tableWaits.forgetTimes()
        return .bound
    }

    /// The address of the backend that the store belongs to; nil if none was bound yet.
    func boundAddress() throws -> String? { try meta(Self.addressKey) }

    /// Whether the bound backend ever gave a list.
    func isProven() throws -> Bool { try meta(Self.provenKey) != nil }

    /// Records that the bound backend gave a list, and its generation.
    /// - Parameter server: how it names itself; nil if it does not.
    func noteProven(_ generation: Generation, _ server: String? = nil) throws {
        if try meta(Self.provenKey) == nil { try setMeta(Self.provenKey, "1") }
        if let server, try self.server() != server { try setMeta(Self.serverKey, server) }
        let number = String(generation.rawValue)
        let known = try meta(Self.generationKey)
        guard known != number else { return }
        try setMeta(Self.generationKey, number)
        // Another generation has other texts, so every table is pulled again.
        if known != nil { for table in try tables.all() { try tokens.remove(of: table) } }
    }

    /// The generation that the bound backend last had.
    func provenGeneration() throws -> Generation? {
        try meta(Self.generationKey).flatMap { Int($0) }.flatMap(Generation.init(rawValue:))
    }

    /// How the bound backend's server names itself; nil if it never did.
    func server() throws -> String? { try meta(Self.serverKey) }

    /// Before which the backend asked not to be tried (Retry-After); nil if it named no time.
    func notBefore() throws -> Instant? {
        try meta(Self.notBeforeKey).flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
    }

    /// Stores the time before which the backend is not to be tried.
    func setNotBefore(_ time: Instant?) throws {
        guard let time else { return try removeMeta(Self.notBeforeKey) }
        try setMeta(Self.notBeforeKey, String(time.milliseconds))
    }

    /// The tables that give no list and have taken a write.
    func takers() throws -> Set<TableName> {
        let names = try meta(Self.takersKey)?.split(separator: " ") ?? []
        return Set(names.compactMap { TableName(String($0)) })
    }

    func noteTaker(_ table: TableName) throws {
        let names = try takers().union([table]).map(\.text).sorted()
        try setMeta(Self.takersKey, names.joined(separator: " "))
    }

    /// The user's id at the backend, where the store came from another backend; nil in any other store.
    func owner() throws -> String? { try meta(Self.ownerKey) }

    func setOwner(_ user: String) throws { try setMeta(Self.ownerKey, user) }

    /// Accepts another backend. The queue stays; every table is pulled again.
    func rebind(to address: BackendAddress) throws {
        // A start may be repeated with the same word; its user need not sign in again.
        if try boundAddress() != address.description { try removeMeta(Self.ownerKey) }
        try setMeta(Self.addressKey, address.description)
        try removeMeta(Self.provenKey)
        try removeMeta(Self.generationKey)
        try removeMeta(Self.serverKey)
        try removeMeta(Self.takersKey)
        try setNotBefore(nil)
        for table in try tables.all() {
            try tokens.remove(of: table, queryID: nil)
            try tables.forgetHabits(of: table)
        }
        try dueOperations.forgetTimes()
    }
}

// Single values of a store.
extension InTransaction {
    func meta(_ key: String) throws -> String? {
        try transaction.first("SELECT value FROM meta WHERE key = ?", [key]) { $0[0] }
    }

    func removeMeta(_ key: String) throws {
        try transaction.run("DELETE FROM meta WHERE key = ?", [key])
    }

    func setMeta(_ key: String, _ value: String) throws {
        try transaction.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            [key, value])
    }
}

/// Whether the store belongs to the configured backend.
enum Binding: Sendable, Hashable {
    /// It belongs to this backend, or to none yet.
    case bound
    /// It belongs to another backend, which once answered as /tables. Nothing is sent until a person
    /// accepts the new one.
    case other(String)
}
