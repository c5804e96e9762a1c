package import ArgumentParser
package import HTTPClient
package import HTTPServer
package import HTTPTypes
package import Platform
package import SyncCore

package struct BackendConnection: Sendable, Hashable {
    /// PEM file of the authorities to trust instead of the system's.
    package var authorities: String?
    /// PEM files of the certificate to show and its key; both or neither.
    package var certificate: String?
    package var key: String?
    /// The URL of a proxy to the backend.
    package var proxy: String?
    /// The header fields of each request.
    package var fields: HTTPFields = [:]
    /// Whether plain HTTP to another machine is allowed.
    package var allowsPlainHTTP = false

    /// The system's authorities, no certificate, no proxy.
    package init() {}

    package init(_ sources: Sources) throws {
        authorities = try sources.value(Settings.backendCA)
        certificate = try sources.value(Settings.backendCertificate)
        key = try sources.value(Settings.backendKey)
        proxy = try sources.value(Settings.backendProxy)
        allowsPlainHTTP = try sources.valueOrDefault(Settings.allowPlainHTTP)
        for header in try sources.list(Settings.backendHeader) {
            fields[header.name] = try header.value(
                credentials: sources.environment("CREDENTIALS_DIRECTORY"))
        }
    }

    /// Checks the settings for a backend.
    /// - Throws: ``StartProblem`` with the first fault.
    package func check(_ backend: BackendAddress) throws(StartProblem) {
        guard backend.scheme == "https" || allowsPlainHTTP || backend.isLoopback else {
            throw StartProblem(
                "Rows and tokens would travel to \(backend) in the clear. Use https://, or add "
                    + "--allow-plain-http where the network is trusted.")
        }
        guard (certificate == nil) == (key == nil) else {
            throw StartProblem("--backend-cert and --backend-key belong together; give both.")
        }
        let files = [
            (Settings.backendCA.name, authorities), (Settings.backendCertificate.name, certificate),
            (Settings.backendKey.name, key),
        ]
        for case (let name, let file?) in files {
            guard let bytes = try? Files.read(file), !bytes.isEmpty else {
                throw StartProblem("--\(name) names \(file), which cannot be read.")
            }
        }
        if let key, let status = Files.status(key), status.permissions & 0o077 != 0 {
            // Another program may need the key of another user as it is.
            throw StartProblem(
                status.owner == ThisProcess.user
                    ? "\(key) is open to other users. Close it with: chmod 600 '\(key)'"
                    : "\(key) is open to other users. Name a copy that only you may read.")
        }
    }

    /// The configuration of a transport.
    /// - Parameter connections: the number of connections at once.
    package func client(connections: Int) -> ClientConfiguration {
        var client = ClientConfiguration(
            maxConnectionsPerHost: connections,
            certificateAuthorityFile: authorities,
            clientCertificateFile: certificate, clientKeyFile: key, proxy: proxy,
            userAgent: "understudy/\(Version.text)")
        client.fields = fields
        return client
    }

    package static func applicationKey(file path: String) throws -> String {
        let lines = String(decoding: try Files.read(path, mayBePipe: true) ?? [], as: UTF8.self)
            .split(
                whereSeparator: \.isNewline)
        guard let key = lines.first?.trimming({ $0 == " " || $0 == "\t" }), !key.isEmpty
        else {
            throw StartProblem("There is no application key in \(path): write it there.")
        }
        return String(key)
    }
}

/// A header field of each request to the backend, as `--backend-header` names it. The value is in a file, since
/// every user of the machine sees the flags of a process.
package struct BackendHeader: Sendable {
    let name: HTTPField.Name
    /// An absolute path, or `credentials/NAME` for a credential of systemd.
    let file: String

    package static let allowed =
        "NAME=@FILE: the name of a header field that Understudy does not write itself, and the absolute path "
        + "of the file with its value, such as Ocp-Apim-Subscription-Key=@/etc/understudy/subscription.key; "
        + "for a credential of systemd @credentials/CREDENTIAL. The value stands in the file alone"

    /// Reads a value of the setting; nil if it is not allowed.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])),
            !ForwardableName.isReserved(name),
            ["@/", "@credentials/"].contains(where: { parts[1].hasPrefix($0) })
        else { return nil }
        (self.name, file) = (name, String(parts[1].dropFirst()))
    }

    /// - Parameter credentials: the folder of the credentials that systemd gives.
    func value(credentials: String?) throws(StartProblem) -> String {
        let folder = file.hasPrefix("/") ? "" : credentials ?? "credentials"
        let path = folder + file.drop { $0 != "/" }
        let bytes = (try? Files.read(path, mayBePipe: true)) ?? []
        let text = String(decoding: bytes, as: UTF8.self)[...].trimming(\.isWhitespace)
        guard (1...Limits.backendHeaderBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else {
            throw StartProblem(
                "--backend-header finds no value for \(name) in \(path). Write it there, in one line of "
                    + "at most \(Limits.backendHeaderBytes) plain characters, for this user alone to read."
            )
        }
        return String(text)
    }
}

extension BackendAddress {
    /// Whether the address is `localhost` or a loopback address.
    package var isLoopback: Bool {
        if let host = numericHost, host.contains(":") { return host == "::1" }
        return host == "localhost" || numericHost?.hasPrefix("127.") == true
    }

    /// Whether a server that listens on `address` is this backend. A proxy that passes requests through to
    /// itself would never answer them.
    package func isServed(at address: ListenAddress) -> Bool {
        guard address.port != 0, address.port == port else { return false }
        // The name means both families.
        if host == "localhost" { return ["127.0.0.1", "::1"].contains(address.host) }
        return numericHost == address.host
    }

    /// The host without the port, an IPv6 address in its brackets.
    private var host: Substring {
        authority.hasPrefix("[")
            ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    }

    /// The host without brackets, if it is a numeric address; nil otherwise.
    private var numericHost: String? {
        if authority.hasPrefix("[") { return String(host.dropFirst().dropLast()) }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } ? String(host) : nil
    }

    /// The port, by default that of the scheme; nil if it is invalid.
    private var port: UInt16? {
        let written = authority.dropFirst(host.count)
        return written.isEmpty ? (scheme == "https" ? 443 : 80) : UInt16(written.dropFirst())
    }
}

package struct BackendConnectionOptions: SettingOptions {
    @Option(Settings.backendCA) package var backendCa: String?
    @Option(Settings.backendCertificate) package var backendCert: String?
    @Option(Settings.backendKey) package var backendKey: String?
    @Option(Settings.backendProxy) package var backendProxy: String?
    @Option(Settings.backendHeader) package var backendHeader: [String] = []
    @Flag(Settings.allowPlainHTTP) package var allowPlainHttp: Bool?

    package init() {}
}
