import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

/// A client of a backend in process.
struct Client {
    let backend: TablesBackend
    /// Fields that every request carries.
    var fields: [(String, String)] = []

    /// The fields without which a flavour refuses its clients.
    static func fields(of flavour: BackendFlavour) -> [(String, String)] {
        switch flavour {
        case .mobileServices, .mobileApps, .toolkit: []
        case .node, .express, .dotnet: [("ZUMO-API-VERSION", "2.0.0")]
        case .datasync: [("ZUMO-API-VERSION", "3.0.0")]
        }
    }

    /// A client of a new backend, in the file at the path or where the run of the tests has its backends,
    /// whose clock stands still.
    init(
        _ options: BackendOptions = BackendOptions(), at path: String? = nil,
        fields: [(String, String)] = [],
        random: any RandomNumberGenerator & Sendable = SeededRandom(7),
        clock: @escaping @Sendable () -> Instant = { Instant(milliseconds: 1_800_000_000_000) }
    ) throws {
        backend =
            if let path {
                try TablesBackend(at: path, options: options, clock: clock, random: random)
            } else {
                try .underTest(options, clock: clock, random: random)
            }
        self.fields = fields
    }

    /// A client of a backend on a storage, whose clock stands still.
    init(on storage: any RowStorage, _ options: BackendOptions = BackendOptions()) throws {
        backend = try TablesBackend(
            on: storage, options: options,
            clock: { Instant(milliseconds: 1_800_000_000_000) }, random: SeededRandom(7))
        if options.flavour == .node { fields = [("ZUMO-API-VERSION", "2.0.0")] }
    }

    /// Sends a request exactly as it is given.
    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: String, _ fields: [(String, String)]
    ) throws -> Answer {
        var head = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)), scheme: "http",
            authority: "127.0.0.1:3001", path: target)
        for (name, value) in fields {
            head.headerFields[try #require(HTTPField.Name(name))] = value
        }
        let request = Request(head: head, body: Array(body.utf8))
        return Answer(response: backend.respond(to: request))
    }

    /// Sends a request, JSON where it has a body, with the fields that every request carries.
    @discardableResult
    func send(
        _ method: String, _ target: String, _ body: String? = nil, _ more: [String: String] = [:]
    ) throws -> Answer {
        let type = body == nil ? [] : [("Content-Type", "application/json")]
        return try send(
            method, target, body ?? "", type + fields + more.map { ($0.key, $0.value) })
    }

    /// What came back.
    struct Answer {
        let response: Response
        var status: Int { response.head.status.code }
        var text: String { String(decoding: response.bytes ?? [], as: UTF8.self) }
        var json: JSONValue { (try? JSONValue(parsing: text)) ?? .null }
        func field(_ name: String) -> String? {
            HTTPField.Name(name).flatMap { response.head.headerFields[$0] }
        }
        /// The ids of a list.
        var ids: [String] {
            let rows = json.array ?? json["results"]?.array ?? json["items"]?.array ?? []
            return rows.compactMap { $0["id"]?.string ?? $0["id"]?.integer.map(String.init) }
        }
    }
}
