package import Backend
package import HTTPServer
package import Proxy

/// What protects a backend: the users' tokens, and the certificate.
package struct BackendSecurity: Sendable {
    /// Whose tokens are good; nil for the reference backend, which takes every token.
    package let access: (any TokenVerifier)?
    /// What clients are shown; nil for connections in the clear.
    package let certificate: ServerCertificate?

    /// The protection of a site; nothing, for the reference backend.
    package init(access: (any TokenVerifier)? = nil, certificate: ServerCertificate? = nil) {
        (self.access, self.certificate) = (access, certificate)
    }

    /// Refuses an address that other machines reach, where not every request is protected.
    package func check(_ address: ListenAddress, allowsPlainHTTP: Bool) throws(StartProblem) {
        if address.isLoopback { return }
        if access == nil {
            throw StartProblem(
                "\(address) is open to other machines, and the reference backend accepts every "
                    + "token. Say whose tokens are good with --access-file, or listen on a loopback "
                    + "address.")
        }
        if certificate == nil, !allowsPlainHTTP {
            throw StartProblem(
                "\(address) is open to other machines, and rows and tokens would travel in the clear. "
                    + "Say --tls-certificate and --tls-key, or --allow-plain-http where something in "
                    + "front of it speaks TLS or the network is trusted.")
        }
    }
}
