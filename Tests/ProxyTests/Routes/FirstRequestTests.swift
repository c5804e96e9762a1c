import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Each verb as the first request to a fresh folder, before a server with tables as Express serves them. The answer
/// is compared with that of the backend to a client that asks it directly.
@Suite(.timeLimit(.minutes(2))) struct FirstRequestTests {
    struct First: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        var body = ""
        /// The status that the documentation gives where the proxy differs: a filter that cannot be read is 400 and
        /// not 500, and where the table of a write does not exist, the message is about the read that was made for it.
        var status: Int?
        var testDescription: String { "\(method) \(path)" }
    }

    private static let new = #"{"id":"new","title":"New"}"#
    private static let changed = #"{"title":"Changed"}"#
    static let requests: [First] = [
        First(method: "GET", path: "movies"),
        First(method: "GET", path: "movies?$top=500&$orderby=id&$inlinecount=allpages"),
        First(method: "GET", path: "movies?$filter=title%20eq%20'none'"),
        First(method: "GET", path: "numbers"), First(method: "GET", path: "secrets"),
        First(method: "GET", path: "quiet"), First(method: "GET", path: "nothing"),
        First(method: "GET", path: "movies?$filter=title%20eq", status: 400),
        First(method: "GET", path: "movies/m007"), First(method: "GET", path: "numbers/1"),
        First(method: "GET", path: "movies/none"), First(method: "GET", path: "secrets/none"),
        First(method: "GET", path: "nothing/a"), First(method: "POST", path: "movies", body: new),
        First(method: "POST", path: "secrets", body: new),
        First(method: "POST", path: "quiet", body: new),
        First(method: "PATCH", path: "movies/m007", body: changed),
        First(method: "PATCH", path: "numbers/1", body: changed),
        First(method: "PATCH", path: "movies/none", body: changed),
        First(method: "PATCH", path: "secrets/none", body: changed),
        First(method: "DELETE", path: "movies/m008", status: 200),
        First(method: "DELETE", path: "movies/none"),
        First(method: "DELETE", path: "nothing/a", status: 404),
    ]

    private func run(
        isAutomatic: Bool, isFilled: Bool = true, _ body: (TestApp) async throws -> Void
    ) async throws {
        var options = BackendOptions(flavour: .express)
        options.tokens = .only(["t"])
        for (name, table) in [
            ("movies", TableOptions.standard(of: .express)),
            ("numbers", TableOptions(softDelete: false, idKind: .integer)),
            ("secrets", TableOptions(softDelete: false, needsSignIn: true)),
            ("quiet", TableOptions(softDelete: false, disabled: [.read])),
        ] {
            options.tables[try #require(TableName(name))] = table
        }
        let local = try #require(PolicySetting("*=local"))
        try await TestApp.run(
            triggers: isAutomatic ? Set(Trigger.allCases) : [.manual], backend: options,
            configure: { $0.policies = [local] }
        ) { test in
            for number in 1000..<1060 where isFilled {
                let row = #"{"id":"m\#("\(number)".dropFirst())","title":"Movie \#(number)"}"#
                #expect(test.native("POST", "movies", row, .express).head.status == .created)
            }
            for title in ["x", "y"] {
                _ = test.native("POST", "numbers", #"{"title":"\#(title)"}"#, .express)
            }
            try await body(test)
        }
    }

    private func request(_ first: First, token: Bool) -> Request {
        var request = Request.make(
            first.method, "/tables/\(first.path)", ["ZUMO-API-VERSION": "2.0.0"], body: first.body)
        if !first.body.isEmpty { request.head.headerFields[.contentType] = "application/json" }
        if token { request.head.headerFields[.zumoAuth] = "t" }
        return request
    }

    private func ask(_ backend: TablesBackend, _ request: Request) -> Response {
        backend.respond(to: request)
    }

    /// Status and body, without the values that each server makes itself.
    private func shown(_ response: Response) -> String {
        let bytes = response.bytes ?? []
        let text =
            (try? JSONValue(parsing: bytes)).map { Self.plain($0).text }
            ?? String(decoding: bytes, as: UTF8.self)
        return "\(response.head.status.code) \(text)"
    }

    private static func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            // A server that deletes for good has no column for it.
            .object(
                members.filter {
                    !["version", "updatedAt", "createdAt"].contains($0.name)
                        && !($0.name == "deleted" && $0.value == .bool(false))
                }.map { JSONValue.Member($0.name, plain($0.value)) })
        case .array(let elements): .array(elements.map(plain))
        default: value
        }
    }

    @Test(arguments: requests, [true, false])
    func `is answered as the backend does, with a token and without`(
        first: First, isAutomatic: Bool
    ) async throws {
        for token in [false, true] {
            try await run(isAutomatic: isAutomatic) { test in
                let request = request(first, token: token)
                let found = await test.send(request)
                if let status = first.status {
                    #expect(found.head.status.code == status)
                    return
                }
                let direct = ask(test.backend, request)
                if direct.head.status == .conflict {
                    // The proxy has sent it already.
                    #expect(shown(found) == "201 \(first.body)")
                } else {
                    #expect(shown(found) == shown(direct), "token \(token)")
                }
                // And again, when the table is known and perhaps copied.
                guard first.method == "GET" else { return }
                #expect(shown(await test.send(request)) == shown(direct), "token \(token)")
            }
        }
    }

    @Test(arguments: requests, [true, false])
    func `is answered 503 without a reachable backend, and an insert is taken`(
        first: First, isAutomatic: Bool
    ) async throws {
        // The rows of a backend that is away are of no account.
        try await run(isAutomatic: isAutomatic, isFilled: false) { test in
            test.unplug()
            let found = await test.send(request(first, token: false))
            switch (first.method, first.status) {
            case ("POST", _): #expect(shown(found) == "201 \(first.body)")
            case ("GET", 400): #expect([400, 503].contains(found.head.status.code))
            default:
                #expect(found.head.status.code == 503)
                #expect(found.head.headerFields[.retryAfter].flatMap { Int($0) } ?? 0 > 0)
                #expect(shown(found).contains(#""error""#))
            }
        }
    }
}
