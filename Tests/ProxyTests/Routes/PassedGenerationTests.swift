import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Requests that are passed through, and logins, if client and backend have different generations.
@Suite struct PassedGenerationTests {
    private static func options(
        _ flavour: BackendFlavour, key: String? = nil
    ) throws -> BackendOptions {
        var options = BackendOptions(flavour: flavour)
        options.applicationKey = key
        options.tokens = .issued
        options.tables[try #require(TableName("todoitem"))] = TableOptions(needsSignIn: true)
        options.tables[try #require(TableName("open"))] = TableOptions()
        return options
    }

    /// The flavours that have custom APIs.
    private static let flavoursWithAPIs = BackendFlavour.allCases.filter { $0 != .express }

    private func ask(
        _ test: TestApp, _ sdk: SDK, _ method: String, _ target: String, _ body: String = "",
        _ more: [(String, String)] = []
    ) async -> ClientResponse {
        await test.send(as: sdk.family, method, target, body, more)
    }

    /// Signs in with the path and the token field of the family; the backend is asked in its own.
    @Test(arguments: ClientFamily.allCases, BackendFlavour.allCases)
    func `a client signs in, and its rows arrive with its identity`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        let sdk = SDK(family: family)
        let path = sdk.isFirst ? "/login/facebook" : "/.auth/login/facebook"
        try await TestApp.run(tables: ["todoitem"], backend: Self.options(flavour)) { test in
            let login = await ask(test, sdk, "POST", path, #"{"access_token":"ana"}"#)
            let token = try #require(login.json["authenticationToken"]?.string, "\(login.text)")
            #expect(login.json["user"]?["userId"]?.string == "facebook:ana")
            let field = sdk.isThird ? ("Authorization", "Bearer \(token)") : ("X-ZUMO-AUTH", token)
            var insert = sdk.insert(#"{"id":"a","text":"x"}"#)
            insert.fields.append(field)
            let made = await test.send(insert)
            #expect(made.status == 201, "\(made.text)")
            let tenant = try #require(test.graph.tenants.all.first { $0.identity.contains("ana") })
            #expect(await tenant.engine.sync().state == .complete)
            let sent = try #require(test.transport.sent.last { $0.head.method == .post })
            let fields = sent.head.headerFields
            #expect(
                fields[.authorization] == (flavour.isThird ? "Bearer \(token)" : nil)
                    || (flavour.isThird && fields[.zumoAuth] == token))
            #expect(flavour.isThird || fields[.zumoAuth] == token)
        }
    }

    /// `Link` and version of what the guard lets through to a backend of a known generation.
    @Test(arguments: ClientFamily.allCases, flavoursWithAPIs)
    func `a custom API gets the header fields of its own generation`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        let sdk = SDK(family: family)
        try await TestApp.run(tables: ["open"], backend: Self.options(flavour)) { test in
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            await test.graph.tenants.anonymous.refreshBackendStatus()
            _ = await ask(test, sdk, "POST", "/api/x?zumo=1", "{}", [("X-ZUMO-AUTH", "t")])
            let sent = try #require(test.transport.sent.last).head
            #expect(sent.path == "/api/x?zumo=1")
            let version = sent.headerFields[.zumoAPIVersion]
            switch flavour {
            case .mobileServices: #expect(version == nil)
            case .mobileApps, .node, .express, .dotnet: #expect(version == "2.0.0")
            case .datasync, .toolkit: break
            }
            #expect(sent.headerFields[.zumoAuth] == "t")
        }
    }

    @Test(
        arguments: [
            (ClientFamily.mobileServices, BackendFlavour.node, "/push/registrations/1"),
            (.mobileServices, .dotnet, "/push/registrationids"),
            (.mobileApps, .mobileServices, "/push/installations/1"),
        ])
    func `push registration of another generation is refused with the reason`(
        family: ClientFamily, flavour: BackendFlavour, path: String
    ) async throws {
        let sdk = SDK(family: family)
        try await TestApp.run(tables: ["open"], backend: Self.options(flavour)) { test in
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            await test.graph.tenants.anonymous.refreshBackendStatus()
            let told = await ask(test, sdk, "PUT", path, #"{"platform":"apns"}"#)
            #expect(told.status == 501)
            #expect(told.json["error"]?.string?.contains("installations") == true)
            #expect((told.json["code"] != nil) == sdk.isFirst)
        }
    }

    @Test(arguments: flavoursWithAPIs)
    func `a request without a sign of an SDK is unchanged`(flavour: BackendFlavour) async throws {
        try await TestApp.run(tables: ["open"], backend: Self.options(flavour)) { test in
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            await test.graph.tenants.anonymous.refreshBackendStatus()
            let fields = [("X-Own", "1"), ("Authorization", "Bearer mine")]
            for method in ["GET", "PUT", "POST"] {
                let call = Call(method: method, target: "/api/x?x=1&&y", fields: fields)
                _ = await test.send(call.request(to: "127.0.0.1:8080"))
                let sent = try #require(test.transport.sent.last).head
                let names = sent.headerFields.map(\.name.rawName)
                #expect(Set(names) == ["X-Own", "Authorization"], "\(method) \(names)")
                #expect(sent.path == "/api/x?x=1&&y")
            }
        }
    }

    @Test(arguments: [BackendFlavour.mobileServices, .node])
    func `a login finds its address before the backend's generation is known`(
        flavour: BackendFlavour
    ) async throws {
        try await TestApp.run(backend: Self.options(flavour)) { test in
            for path in ["/login/facebook", "/.auth/login/facebook"] {
                let told = await ask(
                    test, SDK(family: .mobileApps), "POST", path, #"{"access_token":"ana"}"#)
                #expect(told.json["authenticationToken"]?.string != nil, "\(path) \(told.text)")
            }
            let told = await ask(test, SDK(family: .mobileApps), "GET", "/.auth/refresh")
            #expect(told.status == (flavour == .node ? 401 : 404))
        }
    }

    @Test(arguments: [true, false])
    func
        `the application key of a first generation backend comes from its clients or the configuration`(
            isConfigured: Bool
        ) async throws
    {
        let options = try Self.options(.mobileServices, key: "key")
        try await TestApp.run(
            tables: ["open"], backend: options,
            configure: { $0.applicationKey = isConfigured ? "key" : nil }
        ) { test in
            let engine = test.graph.tenants.anonymous.engine
            #expect(await engine.sync().state == (isConfigured ? .complete : .signIn))
            await test.graph.tenants.anonymous.refreshBackendStatus()
            let sdk = SDK(family: isConfigured ? .mobileApps : .mobileServices)
            let told = await ask(test, sdk, "POST", "/tables/open", #"{"id":"a"}"#)
            #expect(told.status == 201, "\(told.text)")
            #expect(await engine.sync().state == .complete)
            #expect(test.transport.sent.last?.head.headerFields[.zumoApplication] == "key")
        }
    }

    @Test func `a wrong application key is replaced by the right one, which stays`() {
        let key = ApplicationKey(configured: nil)
        #expect(key.text == nil && !key.learn([:], isRefused: false))
        #expect(key.learn([.zumoApplication: "wrong"], isRefused: false))
        #expect(!key.learn([.zumoApplication: "right"], isRefused: false) && key.text == "wrong")
        #expect(key.learn([.zumoApplication: "right"], isRefused: true))
        #expect(!key.learn([.zumoApplication: "right"], isRefused: true) && key.text == "right")
        let set = ApplicationKey(configured: "set")
        #expect(!set.learn([.zumoApplication: "x"], isRefused: true) && set.text == "set")
    }

    @Test(arguments: ClientFamily.allCases)
    func `an insert without a token is answered 401 if the table requires a sign-in`(
        family: ClientFamily
    ) async throws {
        let sdk = SDK(family: family)
        try await TestApp.run(triggers: Set(Trigger.allCases), backend: Self.options(.node)) {
            test in
            func insert(_ table: String) async -> ClientResponse {
                await ask(test, sdk, "POST", "/tables/\(table)", #"{"text":"x"}"#)
            }
            #expect(await insert("todoitem").status == 401)
            #expect(await insert("open").status == 201)
            let ledger = try await test.graph.tenants.anonymous.store.ledger()
            #expect(ledger.accepted == 1)
            test.unplug()
            #expect(await insert("todoitem").status == 401)
            #expect(await insert("never").status == 201)
        }
    }
}
