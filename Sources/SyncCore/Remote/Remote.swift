import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The backend as the engine sees it: typed requests out, answers as values back.
struct Remote: Sendable {
    var transport: any HTTPTransport
    var address: BackendAddress
    var generation: Generation
    var applicationKey: String?
    var credential: Credential
    var clock: any EngineClock
    var meter = Meter()
    /// Header fields of the client for whom it is asked. Those of the request itself win.
    var clientFields: HTTPFields = [:]

    /// Makes a request and reads its answer. Never throws: no answer is an answer too.
    func send(_ request: RemoteRequest, asList: Bool) async -> Exchange {
        let start = clock.uptime()
        let exchange = await exchange(request, asList: asList)
        meter.note(exchange.answer, took: clock.uptime() - start)
        return exchange
    }

    private func exchange(_ request: RemoteRequest, asList: Bool) async -> Exchange {
        do throws(TransportError) {
            let response = try await transport.send(bound(request))
            let reader = AnswerReader(generation: generation, now: clock.now())
            return Exchange(
                answer: asList ? reader.list(response) : reader.write(response),
                response: response, status: response.head.status.code,
                excerpt: Self.excerpt(response),
                fields: RecordedFields.lines(response.head.headerFields))
        } catch {
            return Exchange(answer: .unreachable(error))
        }
    }

    /// Asks for a page of rows. What the generation cannot be asked counts as refused by it.
    func list(_ table: TableName, _ query: PageQuery) async -> RemoteAnswer {
        do throws(ODataError) {
            let request = try RemoteRequest.list(table, query, generation: generation)
            return await send(request, asList: true).answer
        } catch {
            return .rejected(status: 400, text: error.description)
        }
    }

    /// The record of an attempt at a request.
    func attempt(_ request: RemoteRequest) -> AttemptStart {
        AttemptStart(
            method: request.method.rawValue, target: request.target, body: request.body,
            fields: RecordedFields.lines(bound(request).head.headerFields))
    }

    /// The request with everything that does not depend on the operation.
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
    /// What the list that was asked for one row proves about it, as a list with the row or an empty one.
    ///
    /// 1. The row itself is proof, and so is an empty list.
    /// 2. Other rows say that the backend ignored the filter: the row may be on a later page. Then it is
    ///    asked for by its id, where a 404 or 410 says that it is not there, since its table is.
    /// 3. Any other answer is no proof, and is given back as it is.
    func proof(
        _ answer: RemoteAnswer, of id: ItemID, in table: TableName
    ) async -> RemoteAnswer {
        guard case .rows(let page) = answer, !page.elements.isEmpty else { return answer }
        if let row = page.rows.first(where: { $0.id == id }) {
            return .rows(RemotePage(elements: [.row(row)], hasNext: false))
        }
        let single = await row(id, in: table)
        switch single {
        case .row(let row) where row.id == id:
            return .rows(RemotePage(elements: [.row(row)], hasNext: false))
        case .missing: return .rows(RemotePage(elements: [], hasNext: false))
        case .row, .empty: return .unusable(status: 200, .unexpectedShape)
        default: return single
        }
    }

    /// One row by its id, deleted or not.
    func row(_ id: ItemID, in table: TableName) async -> RemoteAnswer {
        var pairs = ["__includeDeleted=true"]
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        let path = "/tables/\(table.text)/\(PercentCoding.encode(id.text))"
        let request = RemoteRequest(
            method: .get, target: path + "?" + pairs.joined(separator: "&"))
        return await send(request, asList: false).answer
    }

    /// The rows above an id: the first page, and those that follow it until one is empty.
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
