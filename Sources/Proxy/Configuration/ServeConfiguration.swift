import HTTPServer
import SyncCore
import TablesProtocol

/// Everything that `serve` was told.
struct ServeConfiguration: Sendable {
    /// The backend.
    var backend: BackendAddress
    /// Which generation the backend is.
    var backendGeneration: BackendConfiguration.GenerationChoice
    /// What a first generation backend asks for in `X-ZUMO-APPLICATION`; nil for what clients send.
    var applicationKey: String?
    /// Where to listen. A loopback IPv4 address gets [::1] with the same port beside it, where free.
    var listen: ListenAddress
    /// Where the dashboard is; nil for where clients find this proxy.
    var dashboard: ListenAddress?
    /// The data folder.
    var folder: DataFolder
    /// When changes travel.
    var sync: SyncChoice
    /// The only tables there are, all pulled at every sync; nil for any.
    var tables: [TableName]?
    /// Tables that every sync pulls even before a client asked for them.
    var pulledTables: [TableName] = []
    /// What is said of single tables.
    var policies: [PolicySetting]
    /// What the guard compares with.
    var rules: GuardRules
    /// The header fields of clients that are sent on.
    var forwardedHeaders: [ForwardableName]
    /// A Unix socket to listen on as well.
    var socket: String?
    /// Whether users' tokens are kept, sealed, over a restart.
    var remembersSignIn: Bool
    /// Where the service manager would put the secret for that; nil without a service manager.
    var sealCredential: String?
    /// How long a token is taken that the backend does not confirm, in seconds.
    var offlineGraceSeconds: Int64
    /// How large each store may grow, in bytes; nil for as large as the disk.
    var diskBudgetBytes: Int?
    /// How the backend is reached.
    var backendConnection: BackendConnection
    /// Take another backend for a folder that belongs to one.
    var rebind: Bool
    /// The generation of clients that show no mark of theirs.
    var defaultGeneration: Generation

    /// Changes of different items that are sent at once.
    var parallelism: Int
    /// Rows that a pull asks for in one page.
    var pageRows: Int
    /// Refuse the writes that the SDKs' own queues refuse.
    var strictSDK: Bool

    /// Reads everything; the backend's address must be there.
    init(_ sources: Sources, rebind: Bool) throws(StartProblem) {
        do {
            guard let backend = try sources.value(Settings.backend) else {
                throw StartProblem(
                    "Say which backend to stand in for: --backend https://example.net")
            }
            try self.init(sources, backend: backend, folderName: "understudy", rebind: rebind)
            try backendConnection.check(backend)
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
    }

    /// Reads everything but the backend, which is given.
    init(
        _ sources: Sources, backend: BackendAddress, folderName: String, rebind: Bool
    ) throws(StartProblem) {
        do {
            self.backend = backend
            backendGeneration = try sources.value(Settings.backendGeneration) ?? .auto
            applicationKey = try sources.value(Settings.applicationKeyFile).map(
                Self.applicationKey(file:))
            listen =
                try sources.value(Settings.listen) ?? ListenAddress(host: "127.0.0.1", port: 8080)
            dashboard = try sources.value(Settings.dashboardListen)
            if let dashboard, dashboard.port == listen.port {
                throw StartProblem(
                    "--dashboard-listen and --listen have the same port, \(listen.port). A browser "
                        + "tells origins apart by it: give the dashboard another one.", .usage)
            }
            folder =
                try sources.value(Settings.data)
                ?? DataFolder.standard(name: folderName, environment: sources.environment)
            sync = try sources.value(Settings.sync) ?? .auto
            let tables = try sources.list(Settings.table)
            self.tables = tables.isEmpty ? nil : tables
            policies = try sources.list(Settings.policy)
            rules = GuardRules(
                allowedHosts: Set(try sources.list(Settings.allowHost)),
                allowedOrigins: Set(try sources.list(Settings.allowOrigin)),
                tablesAccess: try sources.value(Settings.tablesAccess) ?? .open)
            forwardedHeaders = try Self.forwardedHeaders(sources)
            socket = try sources.value(Settings.socket)
            remembersSignIn = try sources.value(Settings.rememberSignIn) ?? false
            sealCredential = sources.environment("CREDENTIALS_DIRECTORY").map {
                "\($0)/\(SealSecret.credentialName)"
            }
            offlineGraceSeconds =
                try sources.value(Settings.offlineGrace) ?? Limits.offlineGraceSeconds
            diskBudgetBytes = try sources.value(Settings.diskBudget)
            backendConnection = try BackendConnection(sources)
            self.rebind = rebind
            defaultGeneration = try sources.value(Settings.defaultGeneration) ?? .mobileApps
            parallelism = try sources.value(Settings.parallelism) ?? 1
            pageRows = try sources.value(Settings.pageSize) ?? SyncLimits.pullPageRows
            strictSDK = try sources.value(Settings.strictSDK) ?? false
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
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

    /// The first line of the key's file.
    static func applicationKey(file path: String) throws -> String {
        let lines = String(decoding: try Files.read(path) ?? [], as: UTF8.self).split(
            whereSeparator: \.isNewline)
        guard let key = lines.first?.trimming({ $0 == " " || $0 == "\t" }), !key.isEmpty
        else {
            throw StartProblem("There is no application key in \(path): write it there.")
        }
        return String(key)
    }
}
