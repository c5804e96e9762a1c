import HTTPServer
import Platform
import Program
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
            listen = try sources.valueOrDefault(Settings.listen)
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
        proxy.backendGeneration = try sources.valueOrDefault(Settings.backendGeneration)
        proxy.applicationKey = try sources.value(Settings.applicationKeyFile).map(
            BackendConnection.applicationKey(file:))
        proxy.sync.triggers = try sources.valueOrDefault(Settings.sync).triggers
        let checks = try sources.valueOrDefault(Settings.checkCopies)
        proxy.sync.checkCopies = checks == .zero ? nil : checks
        try readStores(sources, into: &proxy)
        proxy.sync.trustedTables = Set(try sources.list(Settings.trustTable))
        proxy.policies = try sources.list(Settings.policy)
        proxy.syncsCustomAPIs = try sources.valueOrDefault(Settings.apiSync)
        proxy.rules = GuardRules(
            allowedHosts: Set(try sources.list(Settings.allowHost)),
            allowedOrigins: Set(try sources.list(Settings.allowOrigin)),
            tablesAccess: try sources.valueOrDefault(Settings.tablesAccess))
        proxy.forwardedHeaders = try forwardedHeaders(sources)
        proxy.adoptsUnsigned = try sources.valueOrDefault(Settings.adoptUnsigned)
        proxy.offlineGraceSeconds = try sources.valueOrDefault(Settings.offlineGrace)
        proxy.backups = try backups(sources)
        proxy.webhook = try sources.value(Settings.notify)
        proxy.defaultGeneration = try sources.valueOrDefault(Settings.defaultGeneration)
        proxy.sync.parallelism = try sources.valueOrDefault(Settings.parallelism)
        proxy.sync.pageRows = try sources.valueOrDefault(Settings.pageSize)
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
        proxy.sync.retention = try retention(sources)
        proxy.strictSDK = try sources.valueOrDefault(Settings.strictSDK)
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
}

extension Settings {
    static let notify = Setting<Webhook>(
        name: "notify",
        allowed: "the https address of a webhook, without a user or a fragment (http only on this "
            + "machine), such as https://hooks.example/services/T0/B0/SECRET",
        about: SettingText(
            "The webhook that is told when a person is needed, by POST of JSON. Its path is a secret: "
                + "say it in the file, since every user sees the flags of a process.",
            valueName: "url", standard: "none",
            example: "https://hooks.example/services/T0/B0/SECRET", isSecret: true),
        reload: .replaced
    ) { Webhook($0, isLoopback: \.isLoopback) }
}
