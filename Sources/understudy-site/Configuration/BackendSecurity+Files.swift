import Backend
import HTTPServer
import Program
import Proxy
import Site
import TablesProtocol

extension BackendSecurity {
    /// The settings that a SIGHUP applies; of the files, also what is in them.
    static let reloadable: Set<String> = [
        Settings.accessFile.name, Settings.adminTokenFile.name, Settings.certificate.name,
        Settings.certificateKey.name, Settings.logLevel.name, Settings.logFormat.name,
    ]

    /// Reads the files that the settings name.
    /// SIGHUP reads them anew.
    init(_ sources: Sources) throws(StartProblem) {
        do {
            try sources.check(ServeSetting.ofSite)
            self.init(
                access: try Self.access(sources), certificate: try Self.certificate(sources))
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private static func access(_ sources: Sources) throws -> BackendAccess? {
        guard let path = try sources.value(Settings.accessFile) else {
            if try sources.value(Settings.adminTokenFile) != nil {
                throw StartProblem(
                    "--admin-token-file has an effect only with --access-file. Add that, or take it "
                        + "out.")
            }
            return nil
        }
        guard let tokenPath = try sources.value(Settings.adminTokenFile) else {
            throw StartProblem(
                "--access-file needs --admin-token-file: a file with the token of the administrator "
                    + "in its first line, such as `openssl rand -hex 32` makes.")
        }
        let token = try bytes(tokenPath, naming: "with --admin-token-file", isSecret: true)
            .prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let text = try bytes(path, naming: "with --access-file")
        // Of the files that it names only this site's key is a secret: JWK sets are public.
        let ownKey = (try? JSONValue(parsing: text))?["own"]?["keyFile"]?.string
        let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        do {
            return try BackendAccess(
                parsing: text, adminToken: String(decoding: token, as: UTF8.self)
            ) { name in
                try bytes(
                    name.hasPrefix("/") ? name : "\(folder)/\(name)", naming: "in \(path)",
                    isSecret: name == ownKey)
            }
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
            chain: String(
                decoding: try bytes(chain, naming: "with --tls-certificate"), as: UTF8.self),
            key: String(
                decoding: try bytes(key, naming: "with --tls-key", isSecret: true), as: UTF8.self))
    }

    /// The bytes of a file that decides who gets rows and tokens.
    /// - Parameter naming: how a copy of it is named, as the end of a sentence.
    /// - Throws: ``StartProblem`` where other users can change it, or can read it though it is a secret.
    private static func bytes(
        _ path: String, naming: String, isSecret: Bool = false
    ) throws -> [UInt8] {
        guard let file = try InputFile(path) else {
            throw StartProblem("There is no file \(path).")
        }
        let status = file.status
        if let fault = status.changeFault(
            path, path: path, naming: naming, user: ThisProcess.user)
        {
            throw StartProblem(fault)
        }
        if isSecret, let fault = status.secretFault(path: path) { throw StartProblem(fault) }
        guard let bytes = try file.bytes(atMost: Limits.accessFileBytes) else {
            throw StartProblem(
                "\(path) has more than \(Limits.accessFileBytes >> 20) MiB. Name the right file "
                    + "\(naming).")
        }
        return bytes
    }
}
