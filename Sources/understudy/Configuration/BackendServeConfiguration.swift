import Backend
import HTTPClient
import HTTPServer
import Proxy
import SyncCore
import TablesProtocol

/// The settings of `understudy backend`, read and checked.
struct BackendServeConfiguration: Sendable {
    /// Where it listens.
    let listen: ListenAddress
    /// Where its rows are without ``database``.
    let folder: DataFolder
    /// PostgreSQL's URL; nil for a file of SQLite.
    let database: String?
    /// Whether other machines may reach it without TLS.
    let allowsPlainHTTP: Bool
    /// Seconds from SIGTERM to the stop.
    let drainSeconds: Int
    /// What the backend is like.
    private(set) var options: BackendOptions

    /// Reads the settings.
    /// - Parameter verifiesTokens: whether `--access-file` says whose tokens are good.
    init(_ sources: Sources, verifiesTokens: Bool) throws(StartProblem) {
        do {
            try self.init(reading: sources, verifiesTokens)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private init(reading sources: Sources, _ verifiesTokens: Bool) throws {
        listen =
            try sources.value(Settings.anyListen) ?? ListenAddress(host: "127.0.0.1", port: 8081)
        folder =
            try sources.value(Settings.backendData)
            ?? DataFolder.standard(
                name: "understudy-backend", environment: sources.environment)
        database = try sources.value(Settings.database)
        allowsPlainHTTP = try sources.value(Settings.servePlainHTTP) ?? false
        drainSeconds =
            try sources.value(Settings.drain) ?? (verifiesTokens ? Limits.drainSeconds : 0)
        options = BackendOptions(flavour: try sources.value(Settings.flavour) ?? .mobileApps)
        options.pageRows = try sources.value(Settings.pageRows)
        options.requestsPerSecond = try sources.value(Settings.requestsPerSecond)
        options.publicAddress = try sources.value(Settings.publicAddress)
        let level = try sources.value(Settings.defaultAccess)
        if level != nil, !verifiesTokens { throw Self.needsAccess("--default-access") }
        try addTables(sources, verified: verifiesTokens ? level ?? .authenticated : nil)
        if options.flavour == .express || level == .disabled, options.tables.isEmpty {
            throw StartProblem(
                "Only the tables that are given exist with the flavour express and with the access "
                    + "disabled. Name one with --table.")
        }
    }

    /// The tables of the settings. Where tokens are not verified and a table needs a sign-in, only tokens of
    /// this backend are good.
    /// - Parameter verified: the access of what nothing is said about, where tokens are verified.
    private mutating func addTables(_ sources: Sources, verified: AccessLevel?) throws {
        for table in try sources.list(Settings.backendTable) {
            if table.needsAccess, verified == nil {
                throw Self.needsAccess("--table \(table.name)")
            }
            if options.tables[table.name] != nil {
                throw StartProblem(
                    "--table \(table.name) is said twice. Join the words of a table by +.", .usage)
            }
            options.tables[table.name] = table.options(of: options.flavour, verified: verified)
        }
        let named = options.tables
        var unnamed = TableOptions.standard(of: options.flavour)
        if verified == .authenticated { unnamed.signedIn = Set(TableOptions.Operation.allCases) }
        if verified == .disabled { unnamed.disabled = Set(TableOptions.Operation.allCases) }
        for name in try sources.list(Settings.integerIDs) {
            options.tables[name, default: unnamed].idKind = .integer
        }
        for name in try sources.list(Settings.hardDelete) {
            options.tables[name, default: unnamed].softDelete = false
        }
        for name in try sources.list(Settings.signIn) {
            options.tables[name, default: unnamed].needsSignIn = verified == nil
            if verified != nil {
                // What --table forbids of it stays forbidden, and its column is the one said there.
                options.tables[name]?.ownerColumn = named[name]?.ownerColumn ?? "userId"
                options.tables[name]?.disabled = named[name]?.disabled ?? []
            }
        }
        if let verified {
            options.tokens = .verified
            options.dynamicTable = options.dynamicTable == nil ? nil : unnamed
            if verified == .disabled {
                options.dynamicTable = nil
                options.unknownTable = .notFound
            }
        } else if options.tables.values.contains(where: \.needsSignIn) {
            options.tokens = .issued
        }
    }

    private static func needsAccess(_ what: String) -> StartProblem {
        StartProblem(
            "\(what) says who may do what, so users' tokens have to be verified. Say whose tokens "
                + "are good with --access-file.")
    }
}

/// The settings of the connection to the backend.
struct BackendConnection: Sendable, Hashable {
    /// PEM file of the authorities to trust instead of the system's.
    var authorities: String?
    /// PEM files of the certificate to show and its key; both or neither.
    var certificate: String?
    var key: String?
    /// The URL of a proxy to the backend.
    var proxy: String?
    /// Whether plain HTTP to another machine is allowed.
    var allowsPlainHTTP = false

    /// The system's authorities, no certificate, no proxy.
    init() {}

    /// Reads the settings.
    init(_ sources: Sources) throws(ConfigurationProblem) {
        authorities = try sources.value(Settings.backendCA)
        certificate = try sources.value(Settings.backendCertificate)
        key = try sources.value(Settings.backendKey)
        proxy = try sources.value(Settings.backendProxy)
        allowsPlainHTTP = try sources.value(Settings.allowPlainHTTP) ?? false
    }

    /// Checks the settings for a backend.
    /// - Throws: ``StartProblem`` with the first fault.
    func check(_ backend: BackendAddress) throws(StartProblem) {
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
    func client(connections: Int) -> ClientConfiguration {
        ClientConfiguration(
            streamedBodyLimitBytes: Proxy.Limits.passedBodyBytes,
            maxConnectionsPerHost: connections,
            maxPausedTransfers: Proxy.Limits.pausedTransfers,
            certificateAuthorityFile: authorities,
            clientCertificateFile: certificate, clientKeyFile: key, proxy: proxy,
            userAgent: "understudy/\(Version.text)")
    }
}

extension BackendAddress {
    /// Whether the address is `localhost` or a loopback address.
    var isLoopback: Bool {
        if let host = numericHost, host.contains(":") { return host == "::1" }
        return host == "localhost" || numericHost?.hasPrefix("127.") == true
    }

    /// Whether a server that listens on `address` is this backend. A proxy that passes requests through to
    /// itself would never answer them.
    func isServed(at address: ListenAddress) -> Bool {
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
            try sources.check(ServeSetting.ofBackend)
            access = try Self.access(sources)
            certificate = try Self.certificate(sources)
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

    /// Refuses an address that other machines reach, where not every request is protected.
    func check(_ address: ListenAddress, allowsPlainHTTP: Bool) throws(StartProblem) {
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
