import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import Testing

@testable import Platform
@testable import Proxy

final class CapabilityTests: Sendable {
    private let serial = Mutex(0)
    private let kept = Mutex<[Capability]>([])

    private func capabilities(_ kept: [Capability] = []) -> Capabilities {
        Capabilities(
            kept: kept, now: { Instant(milliseconds: 7) },
            secret: {
                self.serial.withLock { serial in
                    serial += 1
                    return Self.long("s\(serial)")
                }
            },
            keep: { list in self.kept.withLock { $0 = list } })
    }

    /// The rest of the secrets that begin with `s1`, `s2` and so on.
    private static let tail = "-0123456789-abcdefghi"

    /// The text with each beginning replaced by its whole secret.
    private static func long(_ text: String) -> String {
        ["s1", "s2", "%73%31", "%2573%31"].reduce(text) { $0.replacing($1, with: $1 + tail) }
    }

    private func guarded(
        _ capabilities: Capabilities, _ access: TablesAccess = .capability
    ) -> Guard {
        Guard(
            rules: GuardRules(tablesAccess: access),
            access: OperatorAccess(
                token: "secret", now: { Instant(milliseconds: 0) }, secret: { "s" }),
            capabilities: capabilities)
    }

    private func reason(_ gate: Guard, _ request: Request) -> Refusal.Reason? {
        if case .refuse(let refusal, _) = gate.check(AddressedRequest(request)) {
            return refusal.reason
        }
        return nil
    }

    @Test func `a capability is valid until it is revoked, and after a restart`()
        throws
    {
        let capabilities = capabilities()
        guard case .made(let made, let secret) = try capabilities.make("phone") else {
            Issue.record("not made")
            return
        }
        #expect(capabilities.name(of: secret) == "phone")
        #expect(try capabilities.make("phone") == .nameTaken)
        #expect(made.fingerprint != secret)
        let restarted = self.capabilities(kept.withLock { $0 })
        #expect(restarted.name(of: secret) == "phone")
        #expect(try restarted.revoke("phone"))
        #expect(try !restarted.revoke("phone"))
        #expect(restarted.name(of: secret) == nil)
        #expect(kept.withLock { $0 }.isEmpty)
    }

    @Test func `a capability that cannot be written is not made`() {
        let failing = Capabilities(
            now: { Instant(milliseconds: 0) }, secret: { "s" },
            keep: { _ throws(FileFailure) in throw FileFailure("write", code: 28) })
        #expect(throws: FileFailure.self) { try failing.make("phone") }
        #expect(failing.name(of: "s") == nil)
        #expect(failing.all.isEmpty)
    }

    @Test(arguments: ["phone", "a", "Ana-s_tablet.2", String(repeating: "n", count: 40)])
    func `a name may have letters, digits and three signs`(name: String) {
        #expect(Capability.isName(name))
    }

    @Test(arguments: [
        "", "-a", ".", "a b", "a/b", "a%2Fb", "ä", "a\n", String(repeating: "n", count: 41),
    ])
    func `any other name is refused`(name: String) {
        #expect(!Capability.isName(name))
    }

    @Test(arguments: [
        ("/c/s1/tables/todoitem?$top=1", "s1", "/tables/todoitem?$top=1"),
        ("/c/s1", "s1", "/"), ("/c/s1?x", "s1", "/?x"), ("/c/", nil, "/c/"),
        ("/c/s1//tables", "s1", "//tables"), ("/tables/c/s1", nil, "/tables/c/s1"),
        ("/c", nil, "/c"), ("/%63/s1/tables", "s1", "/tables"), ("/C/s1/api/x?y", "s1", "/api/x?y"),
        ("/c;a/s1/api", "s1", "/api"), ("/c%2Fs1/api", "api", "/"), ("/cc/s1", nil, "/cc/s1"),
        ("/c:80/s1/api", "s1", "/api"), ("/c%3F/s1/api", "s1", "/api"),
        ("/c%e2%80%8b/s1/api", nil, "/c%e2%80%8b/s1/api"), ("/c%00/s1/api", nil, "/c%00/s1/api"),
        ("/c/s1/\u{301}x", "s1", "/\u{301}x"), ("/C/style.css", nil, "/C/style.css"),
        ("/C/a/b.js", nil, "/C/a/b.js"), ("/c/short/tables/t", "short", "/tables/t"),
        ("/c/short/%54ables/t", "short", "/%54ables/t"), ("/c/short/-/x", "short", "/-/x"),
        ("/c//s1/api", "", "/s1/api"), ("/c/a/s1", "a", "/s1"), ("/c/s1.css", "s1.css", "/"),
        ("/c/%73%31/api", "%73%31", "/api"), ("/c/%2573%31/api", "%2573%31", "/api"),
    ])
    func `the secret is removed from the raw target`(target: String, secret: String?, rest: String)
    {
        let asked = AddressedRequest(.make("GET", Self.long(target)))
        #expect(asked.secret == secret.map(Self.long))
        #expect(asked.request.head.path == Self.long(rest))
    }

    @Test
    func `with capability access, tables are open to capabilities, the operator and the socket`()
        throws
    {
        let capabilities = capabilities()
        _ = try capabilities.make("phone")
        let gate = guarded(capabilities)
        #expect(reason(gate, .make("GET", "/tables/todoitem")) == .capability)
        #expect(reason(gate, .make("GET", "/%74ables/todoitem")) == .capability)
        #expect(reason(gate, .make("GET", Self.long("/c/s2/tables/todoitem"))) == .capability)
        #expect(reason(gate, .make("GET", Self.long("/c/s1/tables/todoitem"))) == nil)
        let operated: KeyValuePairs = ["Authorization": "Bearer secret"]
        #expect(reason(gate, .make("GET", "/tables/todoitem", operated)) == nil)
        let local = Request.make("GET", "/tables/todoitem", localAddress: Connection.unixSocket)
        #expect(reason(gate, local) == nil)
        #expect(reason(guarded(capabilities, .open), .make("GET", "/tables/todoitem")) == nil)
    }

    @Test(arguments: ["/c/s1/-/", "/c/s1/-/api/v1/status", "/c/s1/-/metrics", "/c/s1/%2D/"])
    func `a capability address never reaches the operator API`(target: String) throws {
        let capabilities = capabilities()
        _ = try capabilities.make("phone")
        #expect(reason(guarded(capabilities), .make("GET", Self.long(target))) == .capability)
    }

    @Test(arguments: [
        ("/c/s1/tables/%00", Refusal.Reason.target), ("/c/s1/tables/../x", .target),
        ("/c/%2e%2e/tables/x", .capability), ("/c/s1/../tables/x", .target),
    ])
    func `a path is checked the same at a capability address`(target: String, why: Refusal.Reason)
        throws
    {
        let capabilities = capabilities()
        _ = try capabilities.make("phone")
        #expect(reason(guarded(capabilities), .make("GET", Self.long(target))) == why)
    }

    @Test(arguments: [
        "/c/s1/c/s1/api/x", "/c/s1/C;a/s1/api/x", "/c/s1/%63/anotherSecret-0123456789_/api/x",
        "/c/s1/api/s1",
        "/c/s1/api/a%73%31b/x", "/c/s1/api/a%2573%31b/x", "/c/s1/api//s1", "/c/s1/api/%E9s1",
        "/c/s1/api/%E9/secret", "/api/%E9/%73ecret", "/api/%2573ecret", "/c/s1/api/secret",
        "/api/x?access_token=secret",
        "/api/%73ecret/x", "/c/s1/api/x?a=%73ecret", "/tables/todoitem?access_token=secret",
    ])
    func `a target that would send a secret to the backend is refused`(target: String) throws {
        let capabilities = capabilities()
        _ = try capabilities.make("phone")
        #expect(reason(guarded(capabilities), .make("GET", Self.long(target))) == .target)
    }

    @Test(arguments: [
        "/c/s1/api/x", "/c/s1/api/x?to=/c/s1/done", "/c/s1/api/secre", "/c/s1", "/c/s1/c/style.css",
        "/c/s1/api//x", "/c/s1/%63/other/api/x",
    ])
    func `another target passes`(target: String) throws {
        let capabilities = capabilities()
        _ = try capabilities.make("phone")
        #expect(reason(guarded(capabilities), .make("GET", Self.long(target))) == nil)
    }

    @Test(arguments: [
        ("a secret-secret b", true), ("c2VjcmV0LXNlY3JldA==", true),
        // The passwords of the users `x`, `ab` and `abc`.
        ("Basic eDpzZWNyZXQtc2VjcmV0", true), ("Basic YWI6c2VjcmV0LXNlY3JldA==", true),
        ("Basic YWJjOnNlY3JldC1zZWNyZXQ=", true), ("Basic eDpzZWNyZXQ=", false),
        ("secret-secre", false), ("", false),
    ])
    func `a secret is found in plain text and in base64`(text: String, isThere: Bool) {
        #expect(SecretEncodings("secret-secret").isIn(text) == isThere)
        #expect(!SecretEncodings("").isIn(text))
    }

    @Test func `people who can log in are counted by user id and shell`() {
        let passwd = """
            root:x:0:0:root:/root:/bin/bash
            daemon:x:1:1::/:/usr/sbin/nologin
            ana:x:1000:1000::/home/ana:/bin/bash
            ben:x:1001:1001::/home/ben:/usr/bin/zsh
            app:x:1002:1002::/:/usr/sbin/nologin
            off:x:1003:1003::/:/bin/false
            nobody:x:65534:65534::/:/bin/sh
            broken:x:1004
            """
        #expect(LoginUsers.count(passwd) == 2)
        #expect(TablesAccess.open.warning(loginUsers: 2)?.contains("--tables-access") == true)
        #expect(TablesAccess.open.warning(loginUsers: 1) == nil)
        #expect(TablesAccess.capability.warning(loginUsers: 9) == nil)
    }
}
