import Backend
import HTTPServer
import Proxy

/// What protects `understudy backend`: the users' tokens, and the certificate. SIGHUP reads it anew.
struct BackendSecurity: Sendable {
    /// Whose tokens are good; nil for the reference backend, which takes every token.
    let access: BackendAccess?
    /// What clients are shown; nil for connections in the clear.
    let certificate: ServerCertificate?

    /// The settings that a SIGHUP applies; of the files, also what is in them.
    static let reloadable: Set<String> = [
        Settings.accessFile.name, Settings.adminTokenFile.name, Settings.certificate.name,
        Settings.certificateKey.name, Settings.logLevel.name, Settings.logFormat.name,
    ]

    /// Reads the files that the settings name.
    init(_ sources: Sources) throws(StartProblem) {
        do {
            access = try Self.access(sources)
            certificate = try Self.certificate(sources)
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
    }

    private static func access(_ sources: Sources) throws -> BackendAccess? {
        guard let path = try sources.value(Settings.accessFile) else {
            if try sources.value(Settings.adminTokenFile) != nil {
                throw StartProblem("--admin-token-file is of use with --access-file alone.")
            }
            return nil
        }
        guard let tokenPath = try sources.value(Settings.adminTokenFile) else {
            throw StartProblem(
                "--access-file needs --admin-token-file: a file with the token of the administrator "
                    + "in its first line, such as `openssl rand -hex 32` makes.")
        }
        let lines = String(decoding: try bytes(tokenPath), as: UTF8.self).split(
            whereSeparator: \.isNewline)
        let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        do {
            return try BackendAccess(
                parsing: try bytes(path), adminToken: lines.first.map(String.init) ?? ""
            ) { name in try bytes(name.hasPrefix("/") ? name : "\(folder)/\(name)") }
        } catch let problem as AccessProblem {
            throw StartProblem("\(path) cannot be used. \(problem)")
        }
    }

    private static func certificate(_ sources: Sources) throws -> ServerCertificate? {
        let chain = try sources.value(Settings.certificate)
        let key = try sources.value(Settings.certificateKey)
        guard let chain, let key else {
            if chain == nil, key == nil { return nil }
            throw StartProblem("--tls-certificate and --tls-key go together: say both.")
        }
        return ServerCertificate(
            chain: String(decoding: try bytes(chain), as: UTF8.self),
            key: String(decoding: try bytes(key), as: UTF8.self))
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        guard let bytes = try Files.read(path) else {
            throw StartProblem("There is no file \(path).")
        }
        return bytes
    }

    /// Refuses an address that other machines reach, where not every request is protected.
    func check(_ address: ListenAddress, allowsPlainHTTP: Bool) throws(StartProblem) {
        if address.isLoopback { return }
        if access == nil {
            throw StartProblem(
                "\(address) is open to other machines, and the reference backend takes everybody "
                    + "for whom they say they are. Say whose tokens are good with --access-file, or "
                    + "listen on a loopback address.")
        }
        if certificate == nil, !allowsPlainHTTP {
            throw StartProblem(
                "\(address) is open to other machines, and rows and tokens would travel in the clear. "
                    + "Say --tls-certificate and --tls-key, or --allow-plain-http where something in "
                    + "front of it speaks TLS or the network is trusted.")
        }
    }
}
