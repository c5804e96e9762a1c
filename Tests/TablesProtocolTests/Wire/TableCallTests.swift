import HTTPTypes
import Testing

@testable import TablesProtocol

@Suite struct TableCallTests {
    /// The verb in one word, with its id.
    private func word(_ call: TableCall) -> String {
        switch call.verb {
        case .list: "list"
        case .get(let id, _): "get \(id)"
        case .insert(let body): "insert \(body.id?.text ?? "-")"
        case .update(let id, _): "update \(id)"
        case .replace(let id, _): "replace \(id)"
        case .delete(let id): "delete \(id)"
        case .undelete(let id): "undelete \(id)"
        }
    }

    private static let body = "{\"text\":\"x\"}"

    /// The verbs for the four SDKs in the order of `ClientFamily.allCases`; a number is a refusal.
    @Test(arguments: [
        (HTTPRequest.Method.get, "/tables/t", ["list", "list", "list", "list"]),
        (.head, "/tables/t/", ["list", "list", "list", "list"]),
        (.post, "/tables/t", ["insert -", "insert -", "insert -", "insert -"]),
        (.patch, "/tables/t", ["405", "400", "405", "405"]),
        (.put, "/tables/t", ["405", "405", "405", "405"]),
        (.delete, "/tables/t", ["405", "405", "405", "405"]),
        (.get, "/tables/t/a", ["get a", "get a", "get a", "get a"]),
        (.post, "/tables/t/a", ["undelete a", "undelete a", "405", "405"]),
        (.patch, "/tables/t/a", ["update a", "update a", "update a", "update a"]),
        (.put, "/tables/t/a", ["405", "replace a", "replace a", "replace a"]),
        (.delete, "/tables/t/a/", ["delete a", "delete a", "delete a", "delete a"]),
        (.options, "/tables/t/a", ["405", "405", "405", "405"]),
    ])
    func `method and path make the verb`(
        method: HTTPRequest.Method, path: String, words: [String]
    ) throws {
        for (client, expected) in zip(ClientFamily.allCases, words) {
            do {
                let call = try WireSample.call(
                    method, path, WireSample.fields(client), body: Self.body)
                #expect(word(call) == expected, "\(client)")
                #expect(call.client == client)
            } catch let error as TablesError {
                #expect("\(error.status(in: client.generation).code)" == expected, "\(client)")
            }
        }
    }

    @Test(
        arguments: [
            (WireSample.datasync, #"{"deleted":false}"#, false),
            (WireSample.datasync, #"{"deleted":true,"b":1}"#, true),
            (WireSample.datasync, #"{"b":1}"#, nil),
            (WireSample.mobileApps, #"{"deleted":false}"#, nil),
        ] as [([String: String], String, Bool?)])
    func `the third generation deletes and undeletes with PATCH`(
        fields: [String: String], sent: String, deleted: Bool?
    ) throws {
        let call = try WireSample.call(.patch, "/tables/t/a", fields, body: sent)
        guard case .update(let id, let body) = call.verb else { throw Unexpected() }
        #expect(id.text == "a" && body.deleted == deleted)
    }

    @Test(arguments: ClientFamily.allCases)
    func `a JSON Patch of any family is an update`(client: ClientFamily) throws {
        var fields = WireSample.fields(client)
        fields["Content-Type"] = "application/json-patch+json; charset=utf-8"
        let deleted = client == .mobileServices ? "/__deleted" : "/deleted"
        let patch = """
            [{"op":"test","path":"/n","value":1},{"op":"replace","path":"/text","value":"1.10"},
            {"op":"replace","path":"\(deleted)","value":false}]
            """
        let call = try WireSample.call(.patch, "/tables/t/a", fields, body: patch)
        guard case .update(let id, let body) = call.verb else { throw Unexpected() }
        #expect(id.text == "a" && body.deleted == false)
        #expect(body.columns.text == #"{"text":"1.10"}"#)
        #expect(call.conditions.tests == [Columns.Column("n", .integer(1))])
        // Only an update takes one.
        #expect(throws: TablesError.notAnObject) {
            try WireSample.call(.post, "/tables/t", fields, body: patch)
        }
    }

    @Test func `the second generation may put the id of an update in the body`() throws {
        let call = try WireSample.call(.patch, "/tables/t", body: "{\"id\":\"b\",\"n\":1}")
        #expect(word(call) == "update b")
    }

    @Test func `bodies of reads, deletions and undeletions are ignored, whatever their type`()
        throws
    {
        for (method, path) in [
            (HTTPRequest.Method.get, "/tables/t"), (.get, "/tables/t/a"), (.delete, "/tables/t/a"),
            (.post, "/tables/t/a"),
        ] {
            var fields = WireSample.mobileApps
            fields["Content-Type"] = "text/html"
            _ = try WireSample.call(method, path, fields, body: "<html>")
        }
    }

    @Test func `a write needs JSON by its type`() {
        var fields = WireSample.mobileApps
        fields["Content-Type"] = "text/plain"
        #expect(throws: TablesError.unsupportedContentType) {
            try WireSample.call(.post, "/tables/t", fields, body: "{}")
        }
        fields["Content-Type"] = "application/merge-patch+json"
        #expect(throws: Never.self) { try WireSample.call(.post, "/tables/t", fields, body: "{}") }
    }

    @Test func `the id in the body must be the one in the path`() throws {
        #expect(throws: TablesError.idMismatch) {
            try WireSample.call(.patch, "/tables/t/a", body: "{\"id\":\"b\"}")
        }
        #expect(throws: TablesError.idMismatch) {
            try WireSample.call(.put, "/tables/t/a", WireSample.toolkit, body: "{\"id\":\"A\"}")
        }
        #expect(word(try WireSample.call(.patch, "/tables/t/7", body: "{\"id\":7}")) == "update 7")
        #expect(word(try WireSample.call(.post, "/tables/t", body: "{\"id\":-7}")) == "insert -")
    }

    @Test func `an overridden method is refused`() {
        var fields = WireSample.mobileServices
        fields["X-HTTP-Method-Override"] = "DELETE"
        #expect(throws: TablesError.methodOverride) {
            try WireSample.call(.post, "/tables/t/a", fields)
        }
    }

    @Test(
        arguments: [
            ("", []), ("?__systemproperties=", []),
            ("?__systemProperties=__createdAt%2C__version", [.createdAt, .version]),
            ("?__systemproperties=VERSION,deleted", [.version, .deleted]),
            ("?__systemProperties=*", Set(SystemProperty.allCases)),
            ("?__systemProperties=%20*", Set(SystemProperty.allCases)),
            ("?__systemProperties=%09*%09", Set(SystemProperty.allCases)),
            ("?__systemproperties=%20__createdAt%20,,%20__version%0A", [.createdAt, .version]),
            (
                "?__systemProperties=%0D__createdAt,%0D__updatedAt,%09__version%0D",
                [.createdAt, .updatedAt, .version]
            ),
            ("?__SystemProperties=__CreatedAt,,%09__VERSION", [.createdAt, .version]),
            ("?__SYSTEMPROPERTIES=,%20,", []),
            ("?__systemProperties=__createdAt,", [.createdAt]),
            ("?$select=id,__updatedAt", [.updatedAt]),
        ] as [(String, Set<SystemProperty>)])
    func `the first generation returns the requested system properties`(
        query: String, properties: Set<SystemProperty>
    ) throws {
        let call = try WireSample.call(.get, "/tables/t" + query, WireSample.mobileServices)
        #expect(call.systemProperties == properties)
        let later = try WireSample.call(.get, "/tables/t", WireSample.datasync)
        #expect(later.systemProperties == Set(SystemProperty.allCases))
    }

    @Test(arguments: [
        ("__version,__x", "__x"), ("*,__version", "*"), ("__version,%20*", " *"), ("*,", "*"),
        ("_version", "_version"), ("__createdAt%20__version", "__createdAt __version"),
        ("__", "__"),
    ])
    func `an unknown system property is refused as the server names it`(
        value: String, part: String
    ) throws {
        for (method, path) in [
            (HTTPRequest.Method.get, "/tables/t/a"), (.get, "/tables/t"), (.post, "/tables/t"),
            (.patch, "/tables/t/a"), (.delete, "/tables/t/a"),
        ] {
            let error = #expect(throws: TablesError.self) {
                try WireSample.call(
                    method, path + "?__systemproperties=\(value)", WireSample.mobileServices,
                    body: "{}")
            }
            #expect(error == .unknownSystemProperty(part))
            let sentence = error?.sentence(in: .mobileServices)
            #expect(sentence == "The value '\(part)' is not a supported system property.")
        }
    }

    @Test(arguments: ["__x", "__invalidSystemProperties", "$foo", "$Filter", "$count"])
    func `the first generation refuses unknown reserved names`(name: String) {
        let error = TablesError.badRequest(
            "Invalid query parameter name '\(name)'. "
                + "Custom query parameter names must not start with $ or __.")
        for (method, path) in [
            (HTTPRequest.Method.get, "/tables/t"), (.get, "/tables/t/a"), (.post, "/tables/t"),
            (.patch, "/tables/t/a"), (.delete, "/tables/t/a"), (.post, "/tables/t/a"),
        ] {
            #expect(throws: error) {
                try WireSample.call(
                    method, "\(path)?\(name)=1", WireSample.mobileServices, body: "{}")
            }
            #expect(throws: Never.self) {
                try WireSample.call(
                    method, "\(path)?_x=1&x=2", WireSample.mobileServices, body: "{}")
            }
        }
        #expect(throws: Never.self) {
            try WireSample.call(
                .post, "/tables/t?$top=5000&$filter=((", WireSample.mobileServices, body: "{}")
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "", "list"), (.post, "", "insert -"), (.get, "/a", "get a"),
        (.patch, "/a", "update a"), (.delete, "/a", "delete a"),
    ])
    func `path and table are matched in any case for every family`(
        method: HTTPRequest.Method, rest: String, expected: String
    ) throws {
        for client in ClientFamily.allCases {
            for path in ["/Tables/Movies", "/TABLES/MOVIES", "/tables/movies"] {
                let call = try WireSample.call(
                    method, path + rest, WireSample.fields(client), body: Self.body)
                #expect(word(call) == expected, "\(client) \(path)")
                #expect(call.table == TableName("movies"))
                #expect(call.origin.url == "http://localhost:8080\(path)")
                let id = try ItemID("a b")
                #expect(call.origin.location(of: id) == "http://localhost:8080\(path)/a%20b")
            }
        }
    }

    @Test(arguments: [
        ("?__includeDeleted=true", true), ("?__includedeleted=TRUE", true),
        ("?%5F_includeDeleted=true", true),
        ("?__includeDeleted=false", false), ("?__includeDeleted=1", false), ("", false),
        ("?$inlinecount=allpages?__includeDeleted=true", true),
    ])
    func `only true includes deleted items`(query: String, isMeant: Bool) throws {
        for path in ["/tables/t", "/tables/t/a"] {
            #expect(try WireSample.call(.get, path + query).includeDeleted == isMeant)
        }
        guard case .list(let list) = try WireSample.call(.get, "/tables/t" + query).verb else {
            return
        }
        #expect(list.includeDeleted == isMeant)
    }

    @Test func `the header of Datasync includes deleted items too`() throws {
        var fields = WireSample.datasync
        fields["X-ZUMO-Options"] = "include:deleted"
        #expect(try WireSample.call(.get, "/tables/t", fields).includeDeleted)
        fields["X-ZUMO-Options"] = "include:deleted,nextLink=path"
        #expect(try !WireSample.call(.get, "/tables/t", fields).includeDeleted)
        var first = WireSample.mobileServices
        first["X-ZUMO-Options"] = "include:deleted"
        #expect(try !WireSample.call(.get, "/tables/t", first).includeDeleted)
    }

    @Test func `keeps custom parameters unchanged`() throws {
        let call = try WireSample.call(
            .post, "/tables/t?b=%41+x&$top=1&__x=1&a&b=2&zumo-api-version=2.0.0", body: "{}")
        #expect(call.parameters.map(\.raw) == ["b=%41+x", "a", "b=2"])
        #expect(call.parameters.map(\.value) == ["A x", "", "2"])
    }

    @Test(arguments: ["?$filter=(a", "?%zz=a", "?$orderby=a%20sideways"])
    func `an invalid query is refused with its position`(query: String) {
        #expect { try WireSample.call(.get, "/tables/t" + query) } throws: {
            if case .badQuery? = $0 as? TablesError { true } else { false }
        }
    }

    @Test func `a read of one item uses $select and no filter`() throws {
        let call = try WireSample.call(.get, "/tables/t/a?$filter=((&$top=x&$select=id")
        guard case .get(_, let query) = call.verb else { return }
        #expect(query.select == [.id])
        #expect(query.filter == nil)
    }

    @Test func `conditions are read only for verbs that use them`() throws {
        let fields = WireSample.mobileServices.merging(["If-Match": "v", "If-None-Match": "\"v\""])
        { $1 }
        #expect(throws: TablesError.invalidIfMatch("v")) {
            try WireSample.call(.delete, "/tables/t/a", fields)
        }
        let get = try WireSample.call(.get, "/tables/t/a", fields)
        #expect(get.conditions == Conditions(ifNoneMatch: .versions(["v"])))
        #expect(try WireSample.call(.post, "/tables/t", fields, body: "{}").conditions.isEmpty)
        let patch = try WireSample.call(
            .patch, "/tables/t/a", ["If-Match": "\"v\""], body: "{\"version\":\"w\"}")
        #expect(patch.conditions == Conditions(ifMatch: .versions(["v"])))
        let read = try WireSample.call(
            .get, "/tables/t/a", WireSample.mobileApps.merging(Self.validators) { $1 })
        #expect(read.conditions.isEmpty)
    }

    @Test func `a version in the body of the second generation is a condition`() throws {
        let call = try WireSample.call(.patch, "/tables/t/a", body: #"{"version":"w"}"#)
        #expect(call.conditions == Conditions(ifMatch: .versions(["w"])))
        let put = try WireSample.call(
            .put, "/tables/t/a", WireSample.toolkit, body: #"{"version":"w"}"#)
        #expect(put.conditions.isEmpty)
    }

    private static let validators = [
        "If-Match": "\"a\"", "If-None-Match": "W/\"b\"",
        "If-Unmodified-Since": "Sun, 02 Mar 2014 08:00:00 GMT",
        "If-Modified-Since": "Sun Mar  2 08:00:00 2014",
    ]

    @Test(arguments: [
        (ClientFamily.datasync, HTTPRequest.Method.get, Conditions.DateRule.datasync),
        (.datasync, .put, .datasync), (.datasync, .patch, .datasync),
        (.datasync, .delete, .datasync), (.toolkit, .get, .toolkit), (.toolkit, .put, .toolkit),
        (.toolkit, .delete, .toolkit), (.toolkit, .patch, .datasync),
    ])
    func `the third generation reads all conditions on every verb`(
        client: ClientFamily, method: HTTPRequest.Method, rule: Conditions.DateRule
    ) throws {
        let fields = WireSample.fields(client).merging(Self.validators) { $1 }
        let call = try WireSample.call(method, "/tables/t/a", fields, body: "{}")
        // The .NET servers' delete does not look at these two.
        let isDelete = method == .delete
        #expect(
            call.conditions
                == Conditions(
                    ifMatch: .versions(["a"]), ifNoneMatch: isDelete ? .absent : .versions([]),
                    unmodifiedSince: WireSample.updated,
                    modifiedSince: isDelete ? nil : WireSample.updated, dateRule: rule))
        let odd = WireSample.fields(client).merging([
            "If-Match": "a", "If-None-Match": "", "If-Unmodified-Since": "yesterday",
            "If-Modified-Since": "2014-03-02T08:00:00Z",
        ]) { $1 }
        #expect(try WireSample.call(method, "/tables/t/a", odd, body: "{}").conditions.isEmpty)
    }

    private struct Unexpected: Error {}
}
