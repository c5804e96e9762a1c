import HTTPServer
import Proxy
import SyncCore
import TablesProtocol

/// The configuration of `serve`.
struct ServeConfiguration: Sendable {
    /// The settings without those of the sockets.
    var proxy: ProxyConfiguration
    /// The address to listen on. 127.0.0.1 also gets [::1] with the same port, if that is free.
    var listen: ListenAddress
    /// The dashboard's own address; nil for the clients' address.
    var dashboard: ListenAddress?
    /// A Unix socket to listen on as well.
    var socket: String?
    /// The texts of its policies, as `--policy` has them.
    let policyTexts: [String]
    /// How the backend is reached.
    var backendConnection: BackendConnection

    /// Reads all settings; throws without a backend.
    init(_ sources: Sources, rebind: Bool) throws(StartProblem) {
        do {
            try sources.check(ServeSetting.all)
            guard let backend = try sources.value(Settings.backend) else {
                throw StartProblem(
                    "Say which backend to stand in for: --backend https://example.net, or a line "
                        + "\"backend = https://example.net\" in the configuration file.")
            }
            try self.init(sources, backend: backend, folderName: "understudy", rebind: rebind)
            try backendConnection.check(backend)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    /// Reads all settings but the backend.
    init(
        _ sources: Sources, backend: BackendAddress, folderName: String, rebind: Bool
    ) throws(StartProblem) {
        do {
            proxy = try Self.proxy(sources, backend: backend, folderName: folderName)
            proxy.rebind = rebind
            policyTexts = sources.statements(
                Settings.policy.name, variable: Settings.policy.variable, isList: true
            ).map(\.text)
            listen =
                try sources.value(Settings.listen) ?? ListenAddress(host: "127.0.0.1", port: 8080)
            dashboard = try sources.value(Settings.dashboardListen)
            if let dashboard, dashboard.port == listen.port {
                throw StartProblem(
                    "--dashboard-listen and --listen have the same port, \(listen.port). A browser "
                        + "tells origins apart by it: give the dashboard another one.", .usage)
            }
            proxy.dashboardPort = dashboard?.port
            socket = try sources.value(Settings.socket)
            backendConnection = try BackendConnection(sources)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    /// Reads the settings without those of the sockets.
    private static func proxy(
        _ sources: Sources, backend: BackendAddress, folderName: String
    ) throws -> ProxyConfiguration {
        let folder =
            try sources.value(Settings.data)
            ?? DataFolder.standard(name: folderName, environment: sources.environment)
        var proxy = ProxyConfiguration(backend: backend, folder: folder)
        proxy.backendGeneration = try sources.value(Settings.backendGeneration) ?? .auto
        proxy.applicationKey = try sources.value(Settings.applicationKeyFile).map(
            applicationKey(file:))
        proxy.triggers = (try sources.value(Settings.sync) ?? .auto).triggers
        try readStores(sources, into: &proxy)
        proxy.policies = try sources.list(Settings.policy)
        proxy.rules = GuardRules(
            allowedHosts: Set(try sources.list(Settings.allowHost)),
            allowedOrigins: Set(try sources.list(Settings.allowOrigin)),
            tablesAccess: try sources.value(Settings.tablesAccess) ?? .open)
        proxy.forwardedHeaders = try forwardedHeaders(sources)
        proxy.remembersSignIn = try sources.value(Settings.rememberSignIn) ?? false
        proxy.sealCredential = sources.environment("CREDENTIALS_DIRECTORY").map {
            "\($0)/\(SealSecret.credentialName)"
        }
        proxy.offlineGraceSeconds =
            try sources.value(Settings.offlineGrace) ?? Proxy.Limits.offlineGraceSeconds
        proxy.backups = try backups(sources)
        proxy.defaultGeneration = try sources.value(Settings.defaultGeneration) ?? .mobileApps
        proxy.parallelism = try sources.value(Settings.parallelism) ?? 1
        proxy.pageRows = try sources.value(Settings.pageSize) ?? SyncLimits.pullPageRows
        return proxy
    }

    /// Reads the settings of the stores: tables, disk budget, how long things are kept, `strict-sdk`.
    static func readStores(
        _ sources: Sources, into proxy: inout ProxyConfiguration
    ) throws(ConfigurationProblem) {
        let tables = try sources.list(Settings.table)
        proxy.tables = tables.isEmpty ? nil : tables.map(\.name)
        proxy.parts = [:]
        for (table, said) in zip(
            tables,
            sources.statements(Settings.table.name, variable: Settings.table.variable, isList: true)
        ) {
            guard let part = table.part else { continue }
            guard tables.count(where: { $0.name == table.name }) == 1 else {
                throw ConfigurationProblem(
                    place: said.place, value: said.text,
                    allowed: "the only one of the table \(table.name): join filters with or")
            }
            proxy.parts[table.name] = part
        }
        proxy.diskBudgetBytes = try sources.value(Settings.diskBudget)
        proxy.retention = try retention(sources)
        proxy.strictSDK = try sources.value(Settings.strictSDK) ?? false
    }

    private static func forwardedHeaders(_ sources: Sources) throws -> [ForwardableName] {
        let names = try sources.list(Settings.forwardHeader)
        guard names.count <= Limits.forwardedHeaders else {
            throw StartProblem(
                "forward-header is said \(names.count) times, and may be \(Limits.forwardedHeaders) "
                    + "times.")
        }
        return names
    }

    /// The application key in the first line of a file.
    static func applicationKey(file path: String) throws -> String {
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

/// A setting of `serve` or `backend` without the type of its value, for the configuration file, `config show` and
/// `config init`.
struct ServeSetting: Sendable {
    /// The flag without dashes.
    let name: String
    /// The variable of the environment.
    let variable: String
    /// The allowed values, as part of a sentence.
    let allowed: String
    /// Its purpose in a sentence.
    let summary: String
    /// The default, as text.
    let standard: String
    /// An example of a value, for the commented file.
    let example: String
    /// Whether it may be repeated.
    let isList: Bool
    /// Whether a text is an allowed value.
    let accepts: @Sendable (String) -> Bool
    /// See ``Setting/refusal``.
    let refusal: @Sendable (String) -> String?
    /// Whether its value may hold a password, and is not shown.
    let isSecret: Bool

    /// What stands for such a value.
    static let notShown = "(not shown)"

    /// A value as messages show it.
    func shown(_ text: String) -> String {
        isSecret ? Self.notShown : ConfigurationProblem.withoutPassword(text)
    }

    private init<Value>(_ setting: Setting<Value>, isSecret: Bool = false) {
        guard let about = setting.about else {
            preconditionFailure("A setting of the configuration file says what it is for.")
        }
        name = setting.name
        variable = setting.variable
        allowed = setting.allowed
        summary = about.summary
        standard = about.standard
        example = about.example
        isList = about.isList
        accepts = { setting.read($0) != nil }
        refusal = setting.refusal
        self.isSecret = isSecret
    }

    /// The setting of `serve` with this name.
    static func named(_ name: some StringProtocol) -> ServeSetting? {
        all.first { $0.name == name }
    }

    /// All settings of `serve`, in the order of the commented file.
    static let all: [ServeSetting] = [
        ServeSetting(Settings.backend),
        ServeSetting(Settings.backendGeneration),
        ServeSetting(Settings.applicationKeyFile),
        ServeSetting(Settings.backendCA),
        ServeSetting(Settings.backendCertificate),
        ServeSetting(Settings.backendKey),
        ServeSetting(Settings.backendProxy),
        ServeSetting(Settings.allowPlainHTTP),
        ServeSetting(Settings.listen),
        ServeSetting(Settings.dashboardListen),
        ServeSetting(Settings.socket),
        ServeSetting(Settings.tablesAccess),
        ServeSetting(Settings.data),
        ServeSetting(Settings.rememberSignIn),
        ServeSetting(Settings.offlineGrace),
        ServeSetting(Settings.diskBudget),
        ServeSetting(Settings.keepHistory),
        ServeSetting(Settings.keepAttempts),
        ServeSetting(Settings.keepTombstones),
        ServeSetting(Settings.historyBudget),
        ServeSetting(Settings.attemptsBudget),
        ServeSetting(Settings.backupEvery),
        ServeSetting(Settings.backupKeep),
        ServeSetting(Settings.backupFolder),
        ServeSetting(Settings.sync),
        ServeSetting(Settings.table),
        ServeSetting(Settings.policy),
        ServeSetting(Settings.allowHost),
        ServeSetting(Settings.allowOrigin),
        ServeSetting(Settings.forwardHeader),
        ServeSetting(Settings.defaultGeneration),
        ServeSetting(Settings.parallelism),
        ServeSetting(Settings.pageSize),
        ServeSetting(Settings.strictSDK),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]
    /// All settings of `backend`, in the order of the commented file.
    static let ofBackend: [ServeSetting] = [
        ServeSetting(Settings.anyListen),
        ServeSetting(Settings.certificate),
        ServeSetting(Settings.certificateKey),
        ServeSetting(Settings.servePlainHTTP),
        ServeSetting(Settings.publicAddress),
        ServeSetting(Settings.accessFile),
        ServeSetting(Settings.adminTokenFile),
        ServeSetting(Settings.defaultAccess),
        ServeSetting(Settings.backendTable),
        ServeSetting(Settings.database, isSecret: true),
        ServeSetting(Settings.backendData),
        ServeSetting(Settings.flavour),
        ServeSetting(Settings.integerIDs),
        ServeSetting(Settings.hardDelete),
        ServeSetting(Settings.signIn),
        ServeSetting(Settings.pageRows),
        ServeSetting(Settings.requestsPerSecond),
        ServeSetting(Settings.drain),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]
}
