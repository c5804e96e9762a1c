import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Complete responses with lists, byte for byte.
@Suite struct AnswerPageTests {
    private func render(
        _ target: String, _ client: ClientFamily, _ ids: [String] = [], count: Int? = nil,
        hasMore: Bool = false
    ) throws -> String {
        let call = try WireSample.call(.get, target, WireSample.fields(client))
        let page = ItemPage(
            items: try ids.map { try WireSample.item($0) }, count: count, hasMore: hasMore)
        let response = TablesAnswer(to: call).render(page: page)
        #expect(response.head.headerFields[.eTag] == nil)
        #expect(response.head.status == .ok)
        let link = response.head.headerFields[.link].map { "Link: \($0)\n" } ?? ""
        return link + String(decoding: response.bytes ?? [], as: UTF8.self)
    }

    @Test(arguments: [
        (ClientFamily.mobileServices, nil, "[]"), (.mobileApps, nil, "[]"),
        (.mobileApps, 5, "{\"results\":[],\"count\":5}"),
        (.datasync, nil, "{\"items\":[],\"count\":null,\"nextLink\":null}"),
        (.toolkit, 5, "{\"items\":[],\"count\":5,\"nextLink\":null}"),
    ])
    func `an empty list`(client: ClientFamily, count: Int?, body: String) throws {
        #expect(try render("/tables/t", client, count: count) == body)
    }

    @Test func `first generation: array and counted list`() throws {
        #expect(
            try render("/tables/t", .mobileServices, ["a1", "a2"])
                == "[{\"id\":\"a1\",\"text\":\"x\",\"n\":1.10},{\"id\":\"a2\",\"text\":\"x\",\"n\":1.10}]"
        )
        #expect(
            try render(
                "/tables/TodoItem?$filter=(complete%20eq%20false)&$top=2&$inlinecount=allpages"
                    + "&__systemproperties=__version", .mobileServices, ["a1"], count: 1)
                == "{\"results\":[{\"id\":\"a1\",\"text\":\"x\",\"n\":1.10,"
                + "\"__version\":\"AAAAAAAAB9I=\"}],\"count\":1}")
    }

    @Test(arguments: [
        ("/tables/t", "$skip=1"), ("/tables/t/?a=b", "a=b&$skip=1"),
        ("/tables/t?$top=100&__includeDeleted=true", "$top=99&__includeDeleted=true&$skip=1"),
        (
            "/tables/t?%24skip=50&%24top=5&$orderby=id%20desc&x=%41",
            "$top=4&$orderby=id%20desc&x=%41&$skip=51"
        ),
        ("/tables/t?$top=9&$top=3&$skip=2&$skip=7", "$top=8&$skip=3"),
        ("/tables/t?x=é€&y=%C3%A9", "x=%C3%A9%E2%82%AC&y=%C3%A9&$skip=1"),
    ])
    func `a page links to the next one, keeping port and parameters`(
        target: String, query: String
    ) throws {
        for client in [ClientFamily.mobileServices, .mobileApps]
        where !target.contains("%41") || client == .mobileApps {
            let text = try render(target, client, ["a1"], hasMore: true)
            #expect(text.hasPrefix("Link: http://localhost:8080/tables/t?\(query); rel=next\n["))
        }
        let path = try render(target, .datasync, ["a1"], hasMore: true)
        #expect(path.hasSuffix("\"count\":null,\"nextLink\":\"/tables/t?\(query)\"}"))
        let bare = try render(target, .toolkit, ["a1"], hasMore: true)
        #expect(bare.hasSuffix("\"count\":null,\"nextLink\":\"\(query)\"}"))
    }

    @Test func `a link has no parameter with the name of a header field`() throws {
        let named = "ZUMO-API-VERSION=VERSION&X-ZUMO-VERSION=1&x-zumo-auth=secret&x=1"
        for client in [ClientFamily.mobileApps, .datasync, .toolkit] {
            let version = client == .mobileApps ? "2.0.0" : "3.0.0"
            let target =
                "/tables/t?" + named.replacing("VERSION=VERSION", with: "VERSION=\(version)")
            let text = try render(target, client, ["a1"], hasMore: true)
            #expect(text.contains("x=1&$skip=1"), "\(text)")
            #expect(!text.lowercased().contains("zumo"), "\(text)")
        }
        let first = try render(
            "/tables/t?X-ZUMO-APPLICATION=key&x=1", .mobileServices, ["a1"], hasMore: true)
        #expect(first.hasPrefix("Link: http://localhost:8080/tables/t?x=1&$skip=1; rel=next\n"))
    }

    @Test func `a link keeps the API version if nothing else shows the client's generation`()
        throws
    {
        for (version, expected) in [
            (
                "3.0.0",
                "{\"items\":[],\"count\":null,\"nextLink\":\"zumo-api-version=3.0.0&x=1&$skip=0\"}"
            ),
            ("2.0.0", "Link: http://localhost:8080/tables/t?x=1&$skip=0; rel=next\n[]"),
        ] {
            // Requests without a mark count as second generation here.
            let call = try WireSample.call(
                .get, "/tables/t?zumo-api-version=\(version)&x=1&x-zumo-installation-id=7", [:])
            let response = TablesAnswer(to: call).render(
                page: ItemPage(items: [], count: nil, hasMore: true))
            let link = response.head.headerFields[.link].map { "Link: \($0)\n" } ?? ""
            #expect(link + String(decoding: response.bytes ?? [], as: UTF8.self) == expected)
        }
    }

    @Test(arguments: ClientFamily.allCases)
    func `links keep the case of the client's path`(client: ClientFamily) throws {
        let text = try render("/TABLES/Movies/?$top=9", client, ["a1"], hasMore: true)
        switch client {
        case .mobileServices, .mobileApps:
            #expect(
                text.hasPrefix(
                    "Link: http://localhost:8080/TABLES/Movies?$top=8&$skip=1; rel=next\n["))
        case .datasync: #expect(text.hasSuffix("\"nextLink\":\"/TABLES/Movies?$top=8&$skip=1\"}"))
        case .toolkit: #expect(text.hasSuffix("\"nextLink\":\"$top=8&$skip=1\"}"))
        }
    }

    @Test func `the link has the form that every SDK parses`() throws {
        let text = try render("/tables/t?$top=2", .mobileApps, ["a1"], hasMore: true)
        let line = text.prefix { $0 != "\n" }.dropFirst("Link: ".count)
        let managed = try Regex("^(?<uri>.*?);\\s*rel\\s*=\\s*(?<rel>\\w+)\\s*$")
        let match = try #require(try managed.wholeMatch(in: line))
        #expect(match["uri"]?.substring == "http://localhost:8080/tables/t?$top=1&$skip=1")
        #expect(match["rel"]?.substring == "next")
    }

    @Test func `Datasync gets an absolute link unless it asks for a path`() throws {
        var fields = WireSample.datasync
        fields["X-ZUMO-Options"] = nil
        let call = try WireSample.call(.get, "/tables/t?$count=true", fields)
        let page = ItemPage(items: [try WireSample.item()], count: 2, hasMore: true)
        let body = String(
            decoding: TablesAnswer(to: call).render(page: page).bytes ?? [], as: UTF8.self)
        #expect(
            body.hasSuffix(
                "\"count\":2,\"nextLink\":\"http://localhost:8080/tables/t?$count=true&$skip=1\"}"))
    }

    @Test func `a toolkit page`() throws {
        let filter =
            "$filter=%28updatedAt%20gt%20cast%282024-08-23T20:22:54.291Z,Edm.DateTimeOffset%29%29"
        let rest = "&$orderby=updatedAt&$count=true&__includedeleted=true"
        #expect(
            try render(
                "/tables/todoitem/?\(filter)\(rest)", .toolkit, ["a1"], count: 240, hasMore: true)
                == "{\"items\":[{\"id\":\"a1\",\"text\":\"x\",\"n\":1.10,"
                + "\"updatedAt\":\"2014-03-02T08:00:00.000Z\",\"version\":\"AAAAAAAAB9I=\","
                + "\"deleted\":false}],\"count\":240,\"nextLink\":\"\(filter)\(rest)"
                + "&__after=2014-03-02T08:00:00.000Z&$skip=1\"}")
    }

    @Test func `a select applies to every row`() throws {
        #expect(
            try render("/tables/t?$select=text,id", .mobileApps, ["a1", "a2"])
                == "[{\"text\":\"x\",\"id\":\"a1\"},{\"text\":\"x\",\"id\":\"a2\"}]")
        #expect(
            try render("/tables/t?$select=id&__systemproperties=__version", .mobileServices, ["a1"])
                == "[{\"id\":\"a1\",\"__version\":\"AAAAAAAAB9I=\"}]")
    }
}
