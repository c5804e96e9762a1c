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
                response: response)
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

/// A request to the backend that failed.
public struct FailedRequest: Codable, Sendable, Hashable {
    private enum CodingKeys: CodingKey { case method, path, status, at }

    public var method: String
    /// Path and query at the backend's host.
    public var path: String
    /// Null where no answer came.
    public var status: Int?
    public var at: Instant
    /// Not in its JSON: whether the answer says that it is of a /tables server.
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
