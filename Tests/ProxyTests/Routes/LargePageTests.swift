import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Lists that ask for more rows than one answer has.
struct LargePageTests {
    static let ids = (0..<1_100).map { "r\(10_000 + $0)" }

    /// Lists by the links of the answers.
    /// - Returns: the ids of each page.
    private func pages(
        _ test: TestApp, _ target: String, of client: Generation
    ) async throws -> [[String]] {
        var pages: [[String]] = []
        var next: String? = target
        while let target = next, pages.count < 40 {
            let answer = try await test.list(target, as: client)
            #expect(answer.status == 200, "\(target): \(answer.body.text)")
            pages.append(answer.ids)
            next = answer.next
        }
        return pages
    }

    @Test(arguments: [
        (BackendFlavour.mobileServices, Generation.mobileServices), (.mobileApps, .mobileApps),
        (.dotnet, .mobileApps), (.datasync, .datasync),
        (.toolkit, .mobileApps), (.dotnet, .datasync), (.node, .mobileServices),
    ])
    func `a list of more than a thousand rows is a page and a link to the rest`(
        flavour: BackendFlavour, client: Generation
    ) async throws {
        var options = BackendOptions(flavour: flavour)
        options.pageRows = 400
        try await TestApp.run(backend: options) { test in
            for id in Self.ids {
                _ = test.native("POST", "todoitem", #"{"id":"\#(id)"}"#, flavour)
            }
            for isCopied in [false, true] {
                if isCopied { _ = try await test.ask("POST", "/sync?wait=60") }
                for (query, count) in [
                    ("$top=3000", 1_100), ("$skip=0&$top=1050", 1_050),
                    ("$top=99999999999999999999", 1_100), ("$top=0", 0),
                ] {
                    let pages = try await pages(test, "todoitem?\(query)", of: client)
                    #expect(
                        pages.flatMap(\.self) == Array(Self.ids.prefix(count)),
                        "\(query), copied: \(isCopied)")
                    #expect(pages.allSatisfy { $0.count <= 1_000 })
                }
                // As the SDKs page that take no link.
                var seen: [String] = []
                while true {
                    let page = try await test.list(
                        "todoitem?$orderby=id&$top=3000&$skip=\(seen.count)", as: client)
                    if page.ids.isEmpty { break }
                    seen += page.ids
                }
                #expect(seen == Self.ids, "copied: \(isCopied)")
                let negative = try await test.list("todoitem?$top=-1", as: client)
                #expect(negative.status == 400)
            }
        }
    }

    @Test func `the number of rows that a backend takes is learnt from its refusal`() async throws {
        var options = BackendOptions(flavour: .node)
        (options.maxTop, options.pageRows) = (120, 120)
        try await TestApp.run(backend: options) { test in
            for id in Self.ids.prefix(300) {
                _ = test.native("POST", "todoitem", #"{"id":"\#(id)"}"#, .node)
            }
            let all = Array(Self.ids.prefix(300))
            #expect(
                try await pages(test, "todoitem?$top=3000", of: .mobileServices)
                    == [Array(all[..<120]), Array(all[120..<240]), Array(all[240...])])
            let asked = test.transport.targets.filter { $0.contains("$top=") }
            #expect(asked.count { $0.contains("$top=1000") } == 1, "\(asked)")
            // The last page is followed by none: 60 of 120 rows came.
            let pagesAsked = asked.filter { $0.contains("$orderby=id") }
            #expect(pagesAsked.count { $0.contains("$top=120") } == 3, "\(asked)")
            _ = try await test.ask("POST", "/sync?wait=60")
            #expect(
                try await pages(test, "todoitem?$top=3000", of: .mobileServices).flatMap(\.self)
                    == all)
        }
    }

    @Test func `a refusal that is not of the number of rows is passed on as it came`() async throws
    {
        try await TestApp.run(backend: BackendOptions(flavour: .node)) { test in
            _ = test.native("POST", "todoitem", #"{"id":"a"}"#, .node)
            #expect(try await test.list("todoitem", as: .mobileApps).status == 200)
            let body = #"{"error":"No rows above 500 at 3 today."}"#
            test.transport.decide { request, _ in
                guard request.head.path?.contains("top=") == true else { return nil }
                return .instead(
                    Response(
                        status: .badRequest, headerFields: [.contentType: "application/json"],
                        body: Array(body.utf8)))
            }
            let answer = try await test.list("todoitem?$top=800", as: .mobileApps)
            #expect(answer.status == 400)
            #expect(answer.body.text == body)
            let asked = test.transport.targets.filter {
                $0.contains("todoitem?$top=") && !$0.hasSuffix("=1")
            }
            #expect(
                asked.map { $0.split(separator: "=").last } == ["800", "500", "3"], "\(asked)")
        }
    }
}

/// The answer to a list.
struct ListAnswer {
    let status: Int
    let fields: HTTPFields
    let body: JSONValue

    /// The ids of its rows.
    var ids: [String] { rows.compactMap { $0["id"]?.string } }

    /// Its rows.
    var rows: [JSONValue] {
        (body.array ?? body["items"]?.array ?? body["results"]?.array) ?? []
    }

    /// The target of the next page, below `/tables/`.
    var next: String? {
        let link = HTTPField.Name("Link").flatMap { fields[$0] }?.prefix { $0 != ";" }
        let address = link.map(String.init) ?? body["nextLink"]?.string
        return address?.split(separator: "/tables/").last.map(String.init)
    }
}

extension TestApp {
    /// Lists as a client of a generation.
    func list(_ target: String, as client: Generation) async throws -> ListAnswer {
        let fields: KeyValuePairs<String, String> =
            switch client {
            case .mobileServices: ["X-ZUMO-APPLICATION": "key"]
            case .mobileApps: ["ZUMO-API-VERSION": "2.0.0"]
            case .datasync: ["ZUMO-API-VERSION": "3.0.0", "X-ZUMO-VERSION": "Datasync/6.0"]
            }
        let response = await send(.make("GET", "/tables/\(target)", fields))
        let bytes = response.bytes ?? []
        return ListAnswer(
            status: response.head.status.code, fields: response.head.headerFields,
            body: (try? JSONValue(parsing: bytes)) ?? .null)
    }

    /// Sends a request to the backend as a client of its own generation.
    func native(
        _ method: String, _ path: String, _ body: String, _ flavour: BackendFlavour
    ) -> Response {
        let call = Call(
            method: method, target: "/tables/\(path)",
            fields: flavour.fields + [("Content-Type", "application/json")], body: body)
        return backend.respond(to: call.request(to: "127.0.0.1:8080"))
    }
}
