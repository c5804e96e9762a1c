import Foundation
import HTTPClient
import HTTPMessage
import HTTPTypes
import Testing

/// TLS against `openssl s_server`, with certificates made for each test.
@Suite(.timeLimit(.minutes(1)), .enabled(if: TLSServer.isAvailable)) struct TLSTests {
    @Test func `a certificate of an unknown authority is refused with the reach notSent`()
        async throws
    {
        let server = try TLSServer()
        defer { server.end() }
        let client = try CurlTransport()
        let error = await failure(of: client, server.request())
        #expect(error?.verdict == "untrusted notSent", "\(error?.message ?? "")")
        await client.stop()
    }

    @Test func `a certificate of the configured authority is trusted`() async throws {
        let server = try TLSServer()
        defer { server.end() }
        let client = try CurlTransport(.init(certificateAuthorityFile: server.certificate))
        let response = try await client.send(server.request())
        #expect(response.head.status == .ok)
        #expect(response.text.contains("TLSv1."))
        await client.stop()
    }

    @Test func `a certificate for another name is refused with the reach notSent`() async throws {
        let server = try TLSServer(name: "DNS:elsewhere.example")
        defer { server.end() }
        let client = try CurlTransport(.init(certificateAuthorityFile: server.certificate))
        #expect(await failure(of: client, server.request())?.verdict == "untrusted notSent")
        await client.stop()
    }

    @Test func `TLS older than 1.2 is refused with the reach notSent`() async throws {
        let server = try TLSServer(options: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        defer { server.end() }
        let client = try CurlTransport(.init(certificateAuthorityFile: server.certificate))
        #expect(await failure(of: client, server.request())?.verdict == "tls notSent")
        await client.stop()
    }

    @Test func `a configured client certificate is sent`() async throws {
        let server = try TLSServer(options: ["-Verify", "1", "-verify_return_error"])
        defer { server.end() }
        let own = try CurlTransport(
            .init(
                certificateAuthorityFile: server.certificate,
                clientCertificateFile: server.certificate, clientKeyFile: server.key))
        #expect(try await own.send(server.request()).head.status == .ok)
        await own.stop()
        let none = try CurlTransport(.init(certificateAuthorityFile: server.certificate))
        #expect(await failure(of: none, server.request()) != nil)
        await none.stop()
    }

    @Test func `a missing certificate file is an error with the reach notSent`() async throws {
        let client = try CurlTransport(.init(certificateAuthorityFile: "/nowhere.pem"))
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: "127.0.0.1:1", path: "/")
        #expect(await failure(of: client, Request(head: head))?.reach == .notSent)
        await client.stop()
    }
}

/// `openssl s_server -www` with a self-signed certificate in a folder of its own.
private final class TLSServer {
    static let openssl = "/usr/bin/openssl"
    static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    private let folder: URL
    private let process: Process
    private let port: String

    var certificate: String { folder.appending(path: "certificate.pem").path }
    var key: String { folder.appending(path: "key.pem").path }

    init(name: String = "IP:127.0.0.1", options: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let certificate = folder.appending(path: "certificate.pem").path
        let key = folder.appending(path: "key.pem").path
        try Self.start([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=\(name)",
            "-keyout", key, "-out", certificate,
        ]).process.waitUntilExit()
        let server = try Self.start(
            [
                "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate, "-key", key,
                "-CAfile", certificate,
            ] + options)
        process = server.process
        var printed = ""
        while !printed.contains(/ACCEPT .*\n/) {
            let more = server.output.availableData
            guard !more.isEmpty else { break }
            printed += String(decoding: more, as: UTF8.self)
        }
        port = try #require(printed.firstMatch(of: /ACCEPT .*:(\d+)\n/)?.1.description)
    }

    private static func start(
        _ arguments: [String]
    ) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: openssl)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return (process, output.fileHandleForReading)
    }

    func request() -> Request {
        Request(
            head: HTTPRequest(
                method: .get, scheme: "https", authority: "127.0.0.1:\(port)", path: "/"))
    }

    func end() {
        process.terminate()
        try? FileManager.default.removeItem(at: folder)
    }
}
