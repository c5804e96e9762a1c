import HTTPMessage
import Testing

@testable import HTTPServer

/// A certificate that cannot be used. Live tests show the others.
@Suite struct CertificateTests {
    @Test(arguments: [
        ServerCertificate(chain: "", key: ""), ServerCertificate(chain: "no PEM", key: "no PEM"),
        ServerCertificate(
            chain: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
    ])
    func `a server does not start, and listens nowhere`(certificate: ServerCertificate) throws {
        let address = try ListenAddress(host: "127.0.0.1", port: 0)
        let server = Server(
            ServerConfiguration(addresses: [address], certificate: certificate),
            handler: TestHandler.echo)
        #expect(throws: StartFailure.certificate) { try server.start() }
        #expect(server.copiedListeners().isEmpty)
        server.stop()
    }
}
