import HTTPServer
import Platform
import Proxy
import SyncCore
import TablesProtocol
import Testing

@testable import Program
@testable import understudy

struct ConfigurationTests {
    private func sources(
        _ flags: [String: [String]] = [:], _ environment: [String: String] = [:]
    ) -> Sources {
        Sources(flags: flags) { environment[$0] }
    }

    @Test func `a flag wins over the environment, which wins over the default`() throws {
        let environment = [
            "UNDERSTUDY_BACKEND": "http://from.environment", "UNDERSTUDY_SYNC": "manual",
            "HOME": "/home/ana",
        ]
        let flags = ["backend": ["https://from.flag/app/"]]
        let configuration = try ServeConfiguration(sources(flags, environment), rebind: false)
        #expect(configuration.proxy.backend.description == "https://from.flag/app")
        #expect(configuration.proxy.sync.triggers == [.manual])
        #expect(configuration.listen.description == "127.0.0.1:8080")
        #expect(configuration.proxy.folder.path == "/home/ana/.local/share/understudy")
        #expect(configuration.proxy.defaultGeneration == .mobileApps)
        #expect(configuration.proxy.tables == nil)
    }

    @Test func `lists are repeated flags, or one variable with commas`() throws {
        let environment = [
            "UNDERSTUDY_BACKEND": "https://b", "HOME": "/h", "UNDERSTUDY_TABLE": "a,b",
            "UNDERSTUDY_ALLOW_ORIGIN": "null,file://",
        ]
        let flags = ["allow-host": ["10.0.2.2:8080", "box:8080"]]
        let configuration = try ServeConfiguration(sources(flags, environment), rebind: false)
        #expect(configuration.proxy.tables?.map(\.text) == ["a", "b"])
        #expect(configuration.proxy.rules.allowedHosts == ["10.0.2.2:8080", "box:8080"])
        #expect(configuration.proxy.rules.allowedOrigins == ["null", "file://"])
    }

    @Test func `an address with a user is refused, and the user is not shown`() {
        let flags = ["backend": ["http://user@x"], "data": ["/d"]]
        let problem = #expect(throws: StartProblem.self) {
            try ServeConfiguration(sources(flags), rebind: false)
        }
        #expect(problem?.sentence.contains("--backend is \"http://(kept secret)@x\"") == true)
    }

    @Test(arguments: [
        ("listen", "0.0.0.0:8080"), ("listen", "8080"), ("listen", "localhost:8080"),
        ("listen", "192.168.0.1:80"), ("backend", "example.net"), ("backend", "ftp://x"),
        ("backend", "http://x?a=1"), ("sync", "sometimes"), ("default-generation", "4"),
        ("table", "1st"), ("table", "a b"), ("allow-host", "10.0.2.2"), ("allow-host", "*:80"),
        ("allow-origin", "app.example"), ("allow-origin", "http://app.example/"),
        ("allow-origin", "*"),
    ])
    func `an invalid value is reported with its place and the allowed values`(
        name: String, value: String
    ) {
        var flags = ["backend": ["https://b"], "data": ["/d"]]
        flags[name] = [value]
        let problem = #expect(throws: StartProblem.self) {
            try ServeConfiguration(sources(flags), rebind: false)
        }
        #expect(problem?.exitCode == .usage)
        #expect(problem?.sentence.contains("--\(name) is \"\(value)\", but must be") == true)
        flags[name] = nil
        let variable =
            "UNDERSTUDY_" + name.uppercased().split(separator: "-").joined(separator: "_")
        let fromEnvironment = #expect(throws: StartProblem.self) {
            try ServeConfiguration(sources(flags, [variable: value]), rebind: false)
        }
        #expect(fromEnvironment?.sentence.hasPrefix(variable) == true)
    }

    @Test func `a missing backend is one sentence`() {
        let problem = #expect(throws: StartProblem.self) {
            try ServeConfiguration(sources(["data": ["/d"]]), rebind: false)
        }
        #expect(problem?.sentence.contains("--backend") == true)
    }

    @Test func `the data folder follows XDG_DATA_HOME unless that is relative`() throws {
        func path(_ environment: [String: String]) throws -> String {
            try DataFolder.standard(name: "understudy") { environment[$0] }.path
        }
        #expect(try path(["XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/x/understudy")
        #expect(try path(["XDG_DATA_HOME": "x", "HOME": "/h"]) == "/h/.local/share/understudy")
        #expect(throws: StartProblem.self) { try path([:]) }
    }

    @Test(arguments: [
        "http://127.0.0.1:8081", "http://127.8.9.1", "http://localhost:8081/app",
        "http://[::1]:8081", "https://contoso.example", "https://192.168.0.1",
    ])
    func `plain HTTP is allowed to this machine only`(backend: String) throws {
        _ = try ServeConfiguration(
            sources(["backend": [backend], "data": ["/d"]]), rebind: false)
    }

    @Test(arguments: [
        "http://contoso.example", "http://192.168.0.1:8081", "http://127.0.0.1.nip.io",
        "http://localhost.evil.example", "http://127.1", "http://[::ffff:127.0.0.1]",
        "http://2130706433",
    ])
    func `plain HTTP to another machine needs the option`(backend: String) throws {
        var flags = ["backend": [backend], "data": ["/d"]]
        let problem = #expect(throws: StartProblem.self) {
            try ServeConfiguration(sources(flags), rebind: false)
        }
        #expect(problem?.sentence.contains("--allow-plain-http") == true)
        flags["allow-plain-http"] = ["yes"]
        _ = try ServeConfiguration(sources(flags), rebind: false)
    }
}
