import ArgumentParser
import Backend
import HTTPServer
import Platform
import Program
import Site
import TablesProtocol

/// The settings of a site, read and checked.
struct SiteConfiguration: Sendable {
    /// What it has in common with other backends.
    private(set) var backend: BackendServeConfiguration
    /// PostgreSQL's URL; nil for a file of SQLite.
    let database: String?
    /// The indexes that a node builds after its start, when it has dropped others.
    let indexes: [WantedIndex]
    /// Seconds from SIGTERM to the stop.
    let drainSeconds: Int

    /// Reads the settings.
    /// - Throws: ``StartProblem`` also where other machines would reach rows that nothing protects.
    init(_ sources: Sources, _ security: BackendSecurity) throws(StartProblem) {
        do {
            let verifiesTokens = security.access != nil
            let level = try sources.value(Settings.defaultAccess)
            if level != nil, !verifiesTokens {
                throw BackendServeConfiguration.needsAccess("--default-access")
            }
            backend = try BackendServeConfiguration(
                sources, access: verifiesTokens ? level ?? .authenticated : nil)
            backend.options.ofAddress = ClientAllowance(
                requestsPerSecond: try sources.value(Settings.addressRequestsPerSecond),
                requestsAtOnce: try sources.value(Settings.addressRequestsAtOnce))
            backend.options.ofUser = ClientAllowance(
                requestsPerSecond: try sources.value(Settings.userRequestsPerSecond),
                requestsAtOnce: try sources.value(Settings.userRequestsAtOnce))
            if !backend.options.ofUser.takesAll, !verifiesTokens {
                throw StartProblem(
                    "--user-requests-per-second and --user-requests-at-once need users whose tokens "
                        + "are verified. Say whose tokens are good with --access-file.")
            }
            backend.options.kept = try Self.kept(sources)
            database = try sources.value(Settings.database)
            indexes = try sources.list(Settings.index)
            if database == nil, !indexes.isEmpty {
                throw StartProblem(
                    "--index needs PostgreSQL: name it with --database or UNDERSTUDY_DATABASE.")
            }
            drainSeconds =
                try sources.value(Settings.drain) ?? (verifiesTokens ? Limits.drainSeconds : 0)
            try security.check(
                backend.listen,
                allowsPlainHTTP: try sources.valueOrDefault(Settings.servePlainHTTP))
        } catch {
            throw StartProblem(reading: error)
        }
    }

    /// Reads how long effects and tombstones are kept.
    private static func kept(_ sources: Sources) throws -> KeptTimes {
        let effects = try sources.valueOrDefault(Settings.keepEffects)
        let tombstones = try sources.valueOrDefault(Settings.keepTombstones)
        guard effects <= tombstones else {
            throw StartProblem(
                "--keep-tombstones must not be shorter than --keep-effects: the log would tell of "
                    + "deletions that clients cannot learn of any more. Give both the same time, or "
                    + "tombstones a longer one.")
        }
        return KeptTimes(effectSeconds: effects.seconds, tombstoneSeconds: tombstones.seconds)
    }

    /// Opens the backend on its database.
    func open(_ options: BackendOptions) throws -> TablesBackend {
        guard let database else {
            return try TablesBackend(at: "\(backend.folder.path)/backend.sqlite", options: options)
            {
                ThisProcess.now
            }
        }
        return try TablesBackend(database: database, options: options) { ThisProcess.now }
    }
}

/// How long something is kept.
enum KeptTime: Sendable, Hashable, Comparable {
    case seconds(Int64)
    case forever

    /// Nil for ever.
    var seconds: Int64? {
        switch self {
        case .seconds(let seconds): seconds
        case .forever: nil
        }
    }
}

/// The configuration file of a site.
enum SiteFile: ConfiguredProgram {
    static let kind = ConfigurationKind(
        program: "understudy-site", fileName: "backend.conf", settings: ServeSetting.ofSite
    ) { sources throws(StartProblem) in
        _ = try SiteConfiguration(sources, BackendSecurity(sources))
    }
}

extension UnknownVariable {
    /// Those among the names of an environment.
    static func all(_ names: [String]) -> [UnknownVariable] {
        all(
            names, settings: ServeSetting.ofSite, others: connection, of: SiteFile.kind.program)
    }

    /// What `copy` reads.
    private static let connection = [
        Settings.backendCA.variable, Settings.backendCertificate.variable,
        Settings.backendKey.variable, Settings.backendProxy.variable,
        Settings.backendGeneration.variable, Settings.pageSize.variable,
        Settings.backendHeader.variable,
    ]
}

/// The options of a site alone.
struct SiteOptions: SettingOptions {
    @Option(Settings.database) var database: String?
    @Option(Settings.index) var index: [String] = []
    @Option(Settings.drain) var drain: String?
    @Option(Settings.keepEffects) var keepEffects: String?
    @Option(Settings.keepTombstones) var keepTombstones: String?
    @Option(Settings.userRequestsPerSecond) var userRequestsPerSecond: String?
    @Option(Settings.userRequestsAtOnce) var userRequestsAtOnce: String?
    @Option(Settings.addressRequestsPerSecond) var addressRequestsPerSecond: String?
    @Option(Settings.addressRequestsAtOnce) var addressRequestsAtOnce: String?
    @Option(Settings.accessFile) var accessFile: String?
    @Option(Settings.adminTokenFile) var adminTokenFile: String?
    @Option(Settings.defaultAccess) var defaultAccess: String?
    @Option(Settings.certificate) var tlsCertificate: String?
    @Option(Settings.certificateKey) var tlsKey: String?
    @Flag(Settings.servePlainHTTP) var allowPlainHttp: Bool?
}

// The settings of a site alone.
extension Settings {
    /// Read by libpq alone, and never shown: it may hold a password.
    static let database = Setting<String>(
        name: "database", allowed: "a URL",
        about: SettingText(
            "PostgreSQL's URL (15 or later) as libpq reads it, with all hosts of which one may take "
                + "over. All nodes have the same. UNDERSTUDY_DATABASE keeps a password out of the "
                + "list of processes.", valueName: "url",
            standard: "a file of SQLite in the data folder",
            example: "postgresql://understudy@db1,db2/understudy", isSecret: true)
    ) { $0 }

    static let index = Setting<WantedIndex>(
        name: "index", allowed: WantedIndex.allowed,
        about: SettingText(
            "A column by which lists of a table are ordered: a node builds the index that they need "
                + "after its start, while it serves, and drops those that are not named.",
            valueName: "table:column", standard: "none",
            example: "todos:price desc", isList: true)
    ) { WantedIndex($0) }

    static let drain = wholeNumber(
        "drain", in: 0...Limits.drainSecondsMax,
        about: SettingText(
            "Seconds from SIGTERM to the stop. In them requests are answered, and /-/readyz is 503 so "
                + "that a balancer turns away.", valueName: "seconds",
            standard: "5 with access-file, otherwise 0", example: "10"))

    static let keepEffects = kept(
        "keep-effects",
        about: SettingText(
            "How long the log of what writes did is kept, such as 30d, or forever.",
            valueName: "time", standard: "30d", example: "30d"))

    static let keepTombstones = kept(
        "keep-tombstones",
        about: SettingText(
            "How long a deleted row is kept after its deletion, for clients that sync, such as 90d, or "
                + "forever. An Understudy that was away for longer compares whole tables.",
            valueName: "time", standard: "90d", example: "90d"))

    private static func kept(_ name: String, about: SettingText) -> Setting<KeptTime> {
        let time = time(name, hours: Limits.keptHours, about: about)
        return Setting<KeptTime>(name: name, allowed: "\(time.allowed), or forever", about: about) {
            $0 == "forever" ? .forever : time.read($0).map { .seconds($0) }
        }
    }

    static let userRequestsPerSecond = wholeNumber(
        "user-requests-per-second", in: 1...Limits.clientRequestsPerSecond,
        about: SettingText(
            "How many requests a second a node takes of one signed-in user. Others are answered 429.",
            valueName: "requests", standard: "all", example: "200"))

    static let userRequestsAtOnce = wholeNumber(
        "user-requests-at-once", in: 1...Limits.clientRequestsAtOnce,
        about: SettingText(
            "How many requests of one signed-in user a node answers at the same time. Others are "
                + "answered 429. A proxy sends 8.", valueName: "requests", standard: "all",
            example: "32"))

    static let addressRequestsPerSecond = wholeNumber(
        "address-requests-per-second", in: 1...Limits.clientRequestsPerSecond,
        about: SettingText(
            "How many requests a second a node takes from one address. Others are answered 429. Behind "
                + "a balancer all come from the balancer's: leave it out there.",
            valueName: "requests", standard: "all", example: "400"))

    static let addressRequestsAtOnce = wholeNumber(
        "address-requests-at-once", in: 1...Limits.clientRequestsAtOnce,
        about: SettingText(
            "How many requests from one address a node answers at the same time. Others are answered "
                + "429. Behind a balancer leave it out.", valueName: "requests", standard: "all",
            example: "64"))

    static let accessFile = path(
        "access-file",
        about: SettingText(
            "The JSON file that says whose tokens are good; docs/OPERATIONS.md describes it.",
            valueName: "file", standard: "none; every token is accepted",
            example: "/etc/understudy/access.json"), reload: .replaced)

    static let adminTokenFile = path(
        "admin-token-file",
        about: SettingText(
            "The file with the administrator's token in its first line. With access-file, all that is "
                + "neither a table nor a login needs it.", valueName: "file",
            standard: "none; access-file needs it", example: "/etc/understudy/admin.token"),
        reload: .replaced)

    static let certificate = path(
        "tls-certificate",
        about: SettingText(
            "The certificate to show clients with those above it, a PEM file.", valueName: "file",
            standard: "none; it speaks plain HTTP", example: "/etc/understudy/site.pem"),
        reload: .replaced)

    static let certificateKey = path(
        "tls-key",
        about: SettingText(
            "The key of tls-certificate, a PEM file that is not encrypted.", valueName: "file",
            standard: "none; tls-certificate needs it", example: "/etc/understudy/site.key"),
        reload: .replaced)

    static let servePlainHTTP = yesOrNo(
        allowPlainHTTP.name,
        about: SettingText(
            "Whether it listens without TLS where other machines reach it.",
            standard: "no", example: "yes"))

    static let defaultAccess = Setting<AccessLevel>(
        name: "default-access",
        allowed: "one of \(AccessLevel.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "Who may do what table says nothing about: anonymous, authenticated, or disabled, where no "
                + "table comes with its first write either.", valueName: "level",
            standard: "authenticated with access-file", example: "authenticated")
    ) { AccessLevel(rawValue: $0) }
}

extension ServeSetting {
    /// All settings of a site, in the order of the commented file.
    static let ofSite: [ServeSetting] = [
        ServeSetting(Settings.anyListen),
        ServeSetting(Settings.certificate),
        ServeSetting(Settings.certificateKey),
        ServeSetting(Settings.servePlainHTTP),
        ServeSetting(Settings.publicAddress),
        ServeSetting(Settings.accessFile),
        ServeSetting(Settings.adminTokenFile),
        ServeSetting(Settings.defaultAccess),
        ServeSetting(Settings.backendTable),
        ServeSetting(Settings.database),
        ServeSetting(Settings.index),
        ServeSetting(Settings.backendData),
        ServeSetting(Settings.keepEffects),
        ServeSetting(Settings.keepTombstones),
        ServeSetting(Settings.flavour),
        ServeSetting(Settings.integerIDs),
        ServeSetting(Settings.hardDelete),
        ServeSetting(Settings.signIn),
        ServeSetting(Settings.pageRows),
        ServeSetting(Settings.requestsPerSecond),
        ServeSetting(Settings.userRequestsPerSecond),
        ServeSetting(Settings.userRequestsAtOnce),
        ServeSetting(Settings.addressRequestsPerSecond),
        ServeSetting(Settings.addressRequestsAtOnce),
        ServeSetting(Settings.drain),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]
}

extension BackendSecurity {
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
