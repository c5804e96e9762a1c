import HTTPMessage
import HTTPTypes
import TablesProtocol
import Testing

@testable import Proxy

struct GuardTests {
    let gate = Guard(
        rules: GuardRules(
            allowedHosts: ["10.0.2.2:8080"],
            allowedOrigins: ["http://app.example", "null", "file://", "ionic://localhost"]),
        access: OperatorAccess(
            token: "secret", now: { Instant(milliseconds: 0) }, secret: { "s" }),
        capabilities: Capabilities(now: { Instant(milliseconds: 0) }, secret: { "s" }))

    /// The reason of a request's refusal; nil if it passes.
    func reason(_ request: Request) -> Refusal.Reason? {
        switch gate.check(AddressedRequest(request)) {
        case .pass, .answer: nil
        case .refuse(let refusal, _): refusal.reason
        }
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "10.0.2.2:8080"])
    func `a name of this server with its port passes`(host: String) {
        #expect(reason(.make(host: host)) == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "localhost.evil.example:8080",
        "127.0.0.1.nip.io:8080", "0.0.0.0:8080", "[::ffff:127.0.0.1]:8080", "127.0.0.1.:8080",
        "localhost.:8080", "LOCALHOST:8080", "127.0.0.1", "localhost", "127.0.0.1:80",
        "127.0.0.1:8081", "127.0.0.1:08080", "127.1:8080",
        "2130706433:8080", "10.0.2.2", "10.0.2.2:80", "user@127.0.0.1:8080", "::1:8080", "",
    ])
    func `any other Host is answered 421`(host: String) {
        let refusal = Refusal(.host, "")
        #expect(reason(.make(host: host)) == .host)
        #expect(refusal.status.code == 421)
    }

    @Test func `a missing Host is answered 421 with a sentence that names the option`() {
        guard case .refuse(let refusal, _) = gate.check(AddressedRequest(.make(host: nil))) else {
            Issue.record("it passed")
            return
        }
        #expect(refusal.reason == .host)
        #expect(refusal.sentence.contains("--allow-host"))
    }

    @Test(arguments: ["192.168.1.5", "10.0.0.1", "::ffff:127.0.0.1", "fe80::1", ""])
    func `a connection to another address than loopback is refused`(address: String) {
        #expect(reason(.make(localAddress: address)) == .address)
    }

    @Test(arguments: ["TRACE", "CONNECT", "PROPFIND", "get"])
    func `an unknown method is refused`(method: String) {
        #expect(reason(.make(method)) == .method)
    }

    @Test func `a method override is refused, except in requests that are passed through`() {
        let override: KeyValuePairs = ["X-HTTP-Method-Override": "DELETE"]
        #expect(reason(.make("POST", "/tables/todoitem", override)) == .methodOverride)
        #expect(reason(.make("POST", "/api/custom", override)) == nil)
    }

    @Test(arguments: [
        "/tables/%00", "/tables/a%2", "/tables/a%zz", "/tables/../-/api", "/tables/%2e%2e/x",
        "/./tables", "/tables/%FF", "/tables/a%5Cb", "/tables\\a", "http://evil.example/tables/x",
        "*", "", "//tables/x", "//", "//api/x", "//-/api", "/tables//x", "/%2574ables/x",
        "/api/..%2Ftables/x", "/api/..;/tables/x", "/api/x%2F..%2F..%2Ftables/x",
        "/;a/tables/x", "/%3b/tables/x", "/%3Ba", "/%20/tables/x", "/%20", "/%20;a/tables/x",
        "/%2F/tables/x", "/%2F%20/tables/x", "/.auth//x", "/login/%20/x", "/x/..%20/tables/x",
        "/x/.%20./tables/x", "/x/%20..;a/tables/x", "/x/.%e2%80%8b./tables/x",
        "/x/%252e%252e/tables/x", "/x/%252e%252e%252ftables/x", "/x/..%255ctables/x",
        "/tables#/x", "/#/tables/x", "/api/x#", "/api/x?a#b", "/c#/s/api", "/%ef%bd%94ables/x",
        "/tables%e2%80%8b/x", "/%ef%bb%bftables/x", "/tables%c2%ad/x", "/table%C5%BF/x",
        "/%ef%bd%83/s/api", "/c%e2%80%8b/s/api", "/c%00/s/api", "/c%5C/s/api", "/c%2563/s/api",
        "/;/c/s/api", "/%3b/c/s/api", "/%20/c/s/api", "/c//style.css", "/C/a%5Cb", "/.auth/%0A",
        "/.auth/%5Cx", "/login/caf%E9", "/tables/a%E9", "/caf%E9/x", "/a%5Cb/x", "/api/x%00",
        "/api/%25c0%25ae%25c0%25ae/tables/x", "/api/%c0%ae/x", "/api/%c0%af", "/api/%e0%80%ae/x",
        "/api/%ed%a0%80", "/api/..%E9/x", "/api/.%0A./x", "/api/..%2500/x", "/api/%5C..%5Cx",
        "/api//../tables/x", "/api/%zz", "/api/%4", "/api/%",
    ])
    func `an ambiguous target is refused`(target: String) {
        #expect(reason(.make("GET", target)) == .target)
    }

    @Test(arguments: [
        "/api//x", "/api///", "/api/;a/x", "/api/%20/x", "/api/a%5Cb", "/api/%5Ctables/x",
        "/api/x%0A", "/api/x%0D%0Ay", "/files/caf%E9.txt", "/files/%FF%FE", "/api//tables/x",
        "/api/%2525zz", "/api/100%25", "/api/%E9%25zz", "/C/style.css", "/c", "/c/", "/C/a/b.js",
    ])
    func `a path with a first segment of the backend may have any other segments`(target: String) {
        #expect(reason(.make("GET", target)) == nil)
    }

    static let spaces: [(String, String, Space)] = [
        ("GET", "/tables", .tables), ("GET", "/tables/todoitem", .tables),
        ("GET", "/%74ables/todoitem", .tables), ("GET", "/-", .operatorAPI(.page)),
        ("GET", "/-/", .operatorAPI(.page)), ("GET", "/-/livez", .operatorAPI(.open)),
        ("GET", "/-/app.js", .operatorAPI(.page)), ("GET", "/-/metrics/", .operatorAPI(.page)),
        ("GET", "/-/api/v1/status", .operatorAPI(.api)),
        ("GET", "/%2D/%61pi/v1/status", .operatorAPI(.api)),
        ("GET", "/-/api", .operatorAPI(.api)), ("GET", "/-/api/v1/session", .operatorAPI(.api)),
        ("POST", "/-/api/v1/session", .operatorAPI(.signIn)),
        ("POST", "/-/api/v1/session/", .operatorAPI(.api)),
        ("DELETE", "/-/api/v1/session", .operatorAPI(.api)), ("GET", "/", .other),
        ("GET", "/api/tables", .other), ("GET", "/Tables/x", .tables),
        ("POST", "/TABLES/x", .tables), ("GET", "/%54ables/x", .tables),
        ("GET", "/tables%2Ftodoitem", .tables), ("GET", "/%2Ftables/x", .tables),
        ("GET", "/tables;a/x", .tables), ("GET", "/tables.%20/x", .tables),
        ("GET", "/%20tables/x", .tables), ("GET", "/tables%23/x", .tables),
        ("GET", "/tables%3Fx", .tables), ("GET", "/tables:80/x", .tables),
        ("GET", "/tables::$DATA/x", .tables), ("GET", "/tables%20x/y", .tables),
        ("GET", "/;a%2Ftables/x", .tables), ("GET", "/%20%2Ftables/x", .tables),
        ("GET", "/-:80/api", .operatorAPI(.api)), ("GET", "/tablesx/y", .other),
        ("GET", "/tables-x", .other), ("GET", "/tables_/x", .other), ("GET", "/tables~/x", .other),
        ("GET", "/$batch", .other), ("GET", "/.tables/x", .other), ("GET", "/favicon.ico", .other),
        ("GET", "/api/%C3%A4%20b/x;a", .other), ("GET", "/api/", .other),
        ("GET", "/api/100%25", .other), ("GET", "/api/a.b/...", .other),
        ("GET", "/login/aad", .other), ("GET", "/push/installations/1", .other),
        ("GET", "/-;a/api", .operatorAPI(.api)), ("GET", "/-%2Fapi", .operatorAPI(.page)),
        ("GET", "/x/tables", .other), ("GET", "/.auth/login/aad", .other),
    ]

    @Test(arguments: spaces)
    func `paths are classified by their decoded segments`(
        method: String, path: String, space: Space
    ) throws {
        let found = try Space(TargetPath(path[...]), method: method)
        #expect(found == space)
    }

    static let origins: [(method: String, path: String, fields: [String: String], passes: Bool)] = [
        ("GET", "/tables/t", [:], true), ("PATCH", "/tables/t/1", [:], true),
        ("GET", "/tables/t", ["Origin": "http://127.0.0.1:8080"], true),
        ("GET", "/tables/t", ["Origin": "http://127.0.0.1"], false),
        ("GET", "/tables/t", ["Origin": "https://127.0.0.1:8080"], false),
        ("GET", "/tables/t", ["Origin": "http://127.0.0.1:8080.evil.example"], false),
        ("GET", "/tables/t", ["Origin": "http://localhost:8080"], false),
        ("GET", "/tables/t", ["Origin": "http://evil.example"], false),
        ("POST", "/tables/t", ["Origin": "http://app.example"], true),
        ("POST", "/tables/t", ["Origin": "http://app.example.evil.example"], false),
        ("POST", "/tables/t", ["Origin": "https://app.example"], false),
        ("POST", "/tables/t", ["Origin": "http://APP.example"], false),
        ("POST", "/tables/t", ["Origin": "null"], true),
        ("POST", "/tables/t", ["Origin": "file://"], true),
        ("GET", "/tables/t", ["Origin": "ionic://localhost"], true),
        ("GET", "/-/livez", ["Origin": "http://app.example"], false),
        ("GET", "/-/livez", ["Origin": "null"], false),
        ("GET", "/tables/t", ["Sec-Fetch-Site": "same-origin"], true),
        ("GET", "/tables/t", ["Sec-Fetch-Site": "none"], true),
        ("GET", "/tables/t", ["Sec-Fetch-Site": "cross-site"], false),
        ("GET", "/tables/t", ["Sec-Fetch-Site": "same-site"], false),
        ("GET", "/tables/t", ["Sec-Fetch-Site": "anything"], false),
        ("GET", "/-/livez", ["Sec-Fetch-Site": "cross-site"], false),
        (
            "GET", "/tables/t", ["Sec-Fetch-Site": "cross-site", "Origin": "http://app.example"],
            true
        ),
        (
            "GET", "/tables/t",
            ["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:8080"], false
        ),
        ("GET", "/-/", visit, true),
        ("GET", "/", ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"], true),
        ("GET", "/api/x", visit, false),
        ("GET", "/.auth%2Fx", visit, false),
        ("GET", "/.auth/login/aad", visit, true),
        ("GET", "/-/", visit.merging(["Sec-Fetch-Dest": "iframe"]) { $1 }, false),
        ("GET", "/tables/t", visit, false),
        ("POST", "/login/google", visit, false),
        ("GET", "/-/", ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"], false),
        ("POST", callback, form, true),
        ("POST", callback, form.merging(["Origin": "null"]) { $1 }, true),
        ("PUT", callback, form, false),
        ("POST", "/.auth/login/aad", form, false), ("POST", "/.auth/login/aad/x", form, false),
        ("POST", "/.auth/login/aad/callback/x", form, false),
        ("POST", "/login/aad/callback", form, false),
        ("POST", "/api/login/aad/callback", form, false),
        ("POST", "/tables/t", form, false),
        ("POST", callback, form.merging(["Sec-Fetch-Mode": "no-cors"]) { $1 }, false),
        ("POST", callback, form.merging(["Sec-Fetch-Dest": "iframe"]) { $1 }, false),
        ("POST", callback, form.merging(["Content-Type": "text/plain"]) { $1 }, false),
        (
            "POST", callback,
            ["Origin": "https://login.example", "Content-Type": form["Content-Type"] ?? ""], false
        ),
    ]

    private static let callback = "/.auth/login/aad/callback"
    /// The header fields of a browser that follows a link of another page.
    private static let visit = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
    /// The header fields of a form that a provider's page posts.
    private static let form = [
        "Origin": "https://login.example", "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
        "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
    ]

    @Test(arguments: origins)
    func `pages of other origins are refused for every method`(
        method: String, path: String, fields: [String: String], passes: Bool
    ) {
        var request = Request.make(method, path)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.head.headerFields[name] = value }
        }
        #expect(reason(request) == (passes ? nil : .origin))
    }

    @Test func `a preflight of a listed origin is answered, any other refused`() throws {
        let ask: KeyValuePairs = [
            "Origin": "http://app.example", "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "zumo-api-version", "Sec-Fetch-Site": "cross-site",
        ]
        guard
            case .answer(let answer) = gate.check(
                AddressedRequest(.make("OPTIONS", "/tables/t/1", ask)))
        else {
            Issue.record("not answered")
            return
        }
        #expect(answer.head.status == .noContent)
        #expect(answer.head.headerFields[.accessControlAllowOrigin] == "http://app.example")
        #expect(answer.head.headerFields[.accessControlAllowHeaders] == "zumo-api-version")
        #expect(answer.head.headerFields[.vary] == "Origin")
        let privateNetwork = try #require(
            HTTPField.Name("Access-Control-Allow-Private-Network"))
        #expect(answer.head.headerFields[privateNetwork] == nil)
        #expect(reason(.make("OPTIONS", "/-/api/v1/status", ask)) == .origin)
        let other: KeyValuePairs = [
            "Origin": "http://evil.example", "Access-Control-Request-Method": "GET",
        ]
        #expect(reason(.make("OPTIONS", "/tables/t", other)) == .origin)
    }

    @Test func `the operator API requires a sign-in, health and files do not`() {
        let path = "/-/api/v1/status"
        #expect(reason(.make("GET", path)) == .signIn)
        #expect(reason(.make("GET", path, ["Authorization": "Bearer secret"])) == nil)
        #expect(reason(.make("GET", path, ["Authorization": "bearer secret"])) == nil)
        for wrong in ["Bearer secre", "Bearer secrets", "Basic secret", "secret", "Bearer "] {
            #expect(reason(.make("GET", path, ["Authorization": wrong])) == .signIn)
        }
        for open in ["/-/", "/-/livez", "/-/readyz", "/-/metrics", "/-/openapi.json", "/-/app.js"] {
            #expect(reason(.make("GET", open)) == nil)
        }
    }

    static let types: [(path: String, type: String?, body: String, passes: Bool)] = [
        ("/tables/t", nil, "{}", true), ("/tables/t", "application/json", "{}", true),
        ("/tables/t", "", "{}", true), ("/tables/t", " \t", "{}", true),
        ("/tables/t", "application/json; charset=utf-8", "{}", true),
        ("/tables/t", "Application/JSON", "{}", true),
        ("/tables/t", "application/vnd.app+json", "{}", true),
        ("/tables/t", "text/plain", "{}", false),
        ("/tables/t", "application/x-www-form-urlencoded", "a=b", false),
        ("/tables/t", "multipart/form-data; boundary=x", "x", false),
        ("/tables/t", "text/json+json", "{}", false),
        ("/tables/t", "application/+json", "{}", false),
        ("/tables/t", "application/jsonx", "{}", false),
        ("/tables/t", "text/plain; application/json", "{}", false),
        ("/-/api/v1/sync", "application/json", "{}", true), ("/-/api/v1/sync", nil, "", true),
        ("/-/api/v1/sync", nil, "{}", false), ("/-/api/v1/sync", "text/plain", "{}", false),
        ("/-/api/v1/sync", "", "", true), ("/-/api/v1/sync", "", "{}", false),
        ("/api/custom", "text/plain", "x", true), ("/.auth/login/aad", nil, "x", true),
    ]

    @Test(arguments: types)
    func `bodies must be JSON, except in requests that are passed through`(
        path: String, type: String?, body: String, passes: Bool
    ) {
        var request = Request.make(
            "POST", path, ["Authorization": "Bearer secret"], body: body)
        request.head.headerFields[.contentType] = type
        #expect(reason(request) == (passes ? nil : .contentType))
    }

    @Test func `an announced body beyond the limit is refused before it is read`() {
        let megabyte = 1 << 20
        for (path, limit) in [
            ("/tables/t", megabyte), ("/-/api/v1/sync", 4 * megabyte), ("/api/x", 100 * megabyte),
        ] {
            let fields: KeyValuePairs = [
                "Authorization": "Bearer secret", "Content-Type": "application/json",
                "Content-Length": String(limit + 1),
            ]
            #expect(reason(.make("POST", path, fields)) == .tooLarge)
        }
    }

    @Test func `a request for a service worker is refused in every space`() {
        for path in ["/", "/-/sw.js", "/api/sw.js", "/tables/t"] {
            #expect(reason(.make("GET", path, ["Service-Worker": "script"])) == .serviceWorker)
        }
    }

    static let ports: [(port: UInt16, method: String, path: String, passes: Bool)] = [
        (8080, "GET", "/tables/t", true), (8080, "GET", "/api/x", true),
        (8080, "GET", "/-/livez", true), (8080, "GET", "/-/app.js", false),
        (8080, "POST", "/-/api/v1/session", false), (8090, "GET", "/tables/t", true),
        (8090, "GET", "/api/x", false), (8090, "GET", "/.auth/me", false),
        (8090, "GET", "/", true), (8090, "GET", "/-/app.js", true), (8090, "GET", "/-/livez", true),
        (8090, "POST", "/-/api/v1/session", true),
    ]

    @Test(arguments: ports)
    func `with a port for the dashboard, each port has its own paths`(
        port: UInt16, method: String, path: String, passes: Bool
    ) {
        let apart = Guard(
            rules: GuardRules(), access: gate.access, capabilities: gate.capabilities,
            dashboardPort: 8090)
        let request = Request.make(method, path, host: "127.0.0.1:\(port)", port: port)
        switch apart.check(AddressedRequest(request)) {
        case .pass: #expect(passes)
        case .refuse(let refusal, _): #expect(refusal.reason == .port && !passes)
        case .answer: Issue.record("it was answered")
        }
        let local = Request.make(method, path, localAddress: Connection.unixSocket, port: 0)
        #expect(apart.portRole(local.connection) == .shared)
        #expect(gate.portRole(request.connection) == .shared)
        guard case .answer(let answer) = apart.check(AddressedRequest(.make("GET", "/-/"))) else {
            Issue.record("the dashboard's index is at the clients' port")
            return
        }
        #expect(answer.head.headerFields[.location] == "http://127.0.0.1:8090/-/")
    }
}
