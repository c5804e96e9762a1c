import Foundation
import HTTPMessage
import HTTPServer
import Testing

@Suite struct UnixSocketTests {
    /// A path of its own, short enough for a socket.
    private static func path() -> String { "/tmp/understudy-\(UUID().uuidString).socket" }

    private static func server(_ path: String) -> Server {
        Server(
            ServerConfiguration(addresses: [], unixSockets: [path], workers: 1),
            handler: TestHandler { request in
                .now(
                    .text(
                        "\(request.connection.localAddress) \(request.connection.localPort)"))
            })
    }

    private static func permissions(_ path: String) throws -> Int {
        try #require(
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a Unix socket has mode 0600, answers, and is removed by the stop`()
        async throws
    {
        let path = Self.path()
        let server = Self.server(path)
        #expect(try server.start().isEmpty)
        #expect(try Self.permissions(path) == 0o600)
        let client = try #require(RawClient(unix: path))
        client.send("GET / HTTP/1.1\r\nHost: anything\r\n\r\n")
        #expect(client.answer()?.text == "unix 0")
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `the socket of a crashed server is replaced, one that answers is not`()
        async throws
    {
        let path = Self.path()
        let first = Self.server(path)
        _ = try first.start()
        #expect(throws: StartFailure.addressInUse(path)) { try Self.server(path).start() }
        // A hard link keeps the file of the stopped server.
        try FileManager.default.linkItem(atPath: path, toPath: path + "2")
        await first.stop()
        let second = Self.server(path + "2")
        _ = try second.start()
        #expect(RawClient(unix: path + "2") != nil)
        await second.stop()
    }

    @Test func `a file is not replaced by a socket, and a path too long is refused`() throws {
        let path = Self.path()
        try Data("mine".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: StartFailure.invalidPath(path)) { try Self.server(path).start() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        let long = "/tmp/" + String(repeating: "x", count: 120)
        #expect(throws: StartFailure.invalidPath(long)) { try Self.server(long).start() }
    }
}
