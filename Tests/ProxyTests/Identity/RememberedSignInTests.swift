import Foundation
import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

struct RememberedSignInTests {
    private let folder: DataFolder
    private let field = HTTPField(name: .zumoAuth, value: "canary-token")

    init() throws {
        folder = DataFolder(path: "/tmp/understudy-tests/\(ThisProcess.secret())")
        try Files.makeFolder(folder.path)
    }

    private func open(
        backend: String = "http://one.test", credential: String? = nil,
        identities: Set<String> = ["ana", "ben"]
    ) -> RememberedSignIns.Opening {
        RememberedSignIns.open(
            folder.signInsFile,
            secret: SealSecret(credential: credential, file: folder.signInsKeyFile),
            backend: backend, identities: identities, log: Logger(label: "test"),
            random: ThisProcess.secret)
    }

    private func setMode(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func remove() { try? Files.removeFolder(folder.path) }

    private func sealed() throws -> [UInt8] { try #require(try Files.read(folder.signInsFile)) }

    @Test func `the engine's token is there after a restart, and is not in plain text on disk`()
        throws
    {
        defer { remove() }
        open().signIns?.put(field, of: "ana")
        let again = open()
        #expect(again.warning == nil)
        #expect(again.signIns?.field(of: "ana") == field)
        #expect(again.signIns?.field(of: "ben") == nil)
        for name in Files.names(in: folder.path) {
            let bytes = try #require(try Files.read("\(folder.path)/\(name)"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("canary"), "\(name)")
            #expect(Files.status("\(folder.path)/\(name)")?.permissions == 0o600, "\(name)")
        }
    }

    @Test func `a removed token does not come back`() {
        defer { remove() }
        let signIns = open().signIns
        signIns?.put(field, of: "ana")
        signIns?.put(field, of: "ben")
        signIns?.put(nil, of: "ana")
        #expect(open().signIns?.field(of: "ana") == nil)
        #expect(open().signIns?.field(of: "ben") == field)
    }

    @Test func `tokens of another backend, and of identities without a store, are removed`() {
        defer { remove() }
        open().signIns?.put(field, of: "ana")
        open().signIns?.put(field, of: "ben")
        #expect(open(identities: ["ben"]).signIns?.field(of: "ana") == nil)
        #expect(open().signIns?.field(of: "ana") == nil)
        #expect(open(backend: "http://two.test").signIns?.field(of: "ben") == nil)
        #expect(open().signIns?.field(of: "ben") == nil)
    }

    @Test func `with another key no token is read, with the right key all are`() throws {
        defer { remove() }
        open().signIns?.put(field, of: "ana")
        let (key, text) = (try Files.read(folder.signInsKeyFile) ?? [], try sealed())
        try Files.write(folder.signInsKeyFile, Array(ThisProcess.secret().utf8))
        let opening = open()
        #expect(opening.signIns == nil)
        #expect(opening.warning?.contains("another key") == true)
        #expect(try sealed() == text)
        try Files.write(folder.signInsKeyFile, key)
        #expect(open().signIns?.field(of: "ana") == field)
    }

    @Test func `without the key of a sealed text no new key is made`() throws {
        defer { remove() }
        open().signIns?.put(field, of: "ana")
        Files.remove(folder.signInsKeyFile)
        let opening = open()
        #expect(opening.signIns == nil)
        #expect(opening.warning?.contains("bring back \(folder.signInsKeyFile)") == true)
        #expect(!Files.exists(folder.signInsKeyFile))
    }

    @Test func `a damaged file gives a warning, and later sign-ins are remembered`() throws {
        defer { remove() }
        open().signIns?.put(field, of: "ana")
        var text = try sealed()
        text[text.count - 1] ^= 1
        try Files.write(folder.signInsFile, text)
        let opening = open()
        #expect(opening.warning?.contains("damaged") == true)
        #expect(opening.signIns?.field(of: "ana") == nil)
        opening.signIns?.put(field, of: "ana")
        #expect(open().signIns?.field(of: "ana") == field)
        #expect(open().warning == nil)
    }

    @Test func `the service manager's credential is the key if it is there`() throws {
        defer { remove() }
        let credential = "\(folder.path)/understudy.key"
        try Files.write(credential, Array("\(ThisProcess.secret())\n".utf8))
        open(credential: credential).signIns?.put(field, of: "ana")
        #expect(!Files.exists(folder.signInsKeyFile))
        #expect(open(credential: credential).signIns?.field(of: "ana") == field)
        #expect(open().warning?.contains("understudy.key") == true)
    }

    @Test(arguments: [(0o640, false), (0o604, true), (0o660, true), (0o440, false), (0o400, false)])
    func `a credential that others can read, or its group can write, is refused`(
        mode: Int, isRefused: Bool
    ) throws {
        defer { remove() }
        let credential = "\(folder.path)/understudy.key"
        try Files.write(credential, Array(ThisProcess.secret().utf8))
        try setMode(credential, mode)
        let opening = open(credential: credential)
        #expect((opening.signIns == nil) == isRefused)
        #expect((opening.warning?.contains("chmod 400 '\(credential)'") == true) == isRefused)
    }

    @Test func `a key file that others can read is refused`() throws {
        defer { remove() }
        open().signIns?.put(field, of: "ana")
        try setMode(folder.signInsKeyFile, 0o640)
        let opening = open()
        #expect(opening.signIns == nil)
        #expect(opening.warning?.contains("chmod 600 '\(folder.signInsKeyFile)'") == true)
    }

    @Test func `a key that is too short is refused`() throws {
        defer { remove() }
        let credential = "\(folder.path)/understudy.key"
        try Files.write(credential, Array("\(String(repeating: "x", count: 31))\n".utf8))
        let opening = open(credential: credential)
        #expect(opening.signIns == nil)
        #expect(opening.warning?.contains("shorter than 32 bytes") == true)
    }

    @Test func `a table without a sign-in does not make a refused token valid again`() async throws
    {
        try await TestApp.run(configure: { $0.remembersSignIn = true }) { test in
            let tenant = try await test.graph.tenants.verified(Token(login: "t"))
            let routes = test.graph.routes
            func remembered() async -> HTTPField? {
                await tenant.refreshBackendStatus()
                #expect(await test.graph.tenants.keepTokens() == nil)
                return RememberedSignIns.open(
                    test.folder.signInsFile,
                    secret: SealSecret(credential: nil, file: test.folder.signInsKeyFile),
                    backend: routes.passThrough.backend.description,
                    identities: [tenant.identity], log: Logger(label: "test"),
                    random: ThisProcess.secret
                ).signIns?.field(of: tenant.identity)
            }
            #expect(await remembered()?.value == "t")
            test.transport.decide { request, _ in
                request.path == "/tables/todoitem"
                    ? .instead(Response(status: .unauthorized)) : nil
            }
            let own = try #require(TableName("todoitem"))
            #expect(await tenant.engine.pull(own).state == .signIn)
            #expect(await remembered() == nil)
            let open = try #require(TableName("notes"))
            #expect(await tenant.engine.pull(open).state == .complete)
            #expect(await remembered() == nil)
        }
    }
}

extension RememberedSignIns {
    /// Sets or removes a field on disk.
    fileprivate func put(_ field: HTTPField?, of identity: String) {
        set(field, of: identity)
        save()
    }
}
