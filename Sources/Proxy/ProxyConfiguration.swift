package import SyncCore
package import TablesProtocol

/// All that a proxy goes by which has nothing to do with sockets.
package struct ProxyConfiguration: Sendable {
    /// The backend.
    package var backend: BackendAddress
    /// Which generation the backend is.
    package var backendGeneration = BackendConfiguration.GenerationChoice.auto
    /// What a first generation backend asks for in `X-ZUMO-APPLICATION`; nil for what clients send.
    package var applicationKey: String?
    /// The data folder.
    package var folder: DataFolder
    /// What makes changes travel.
    package var triggers = Set(Trigger.allCases)
    /// The only tables there are, all pulled at every sync; nil for any.
    package var tables: [TableName]?
    /// Tables that every sync pulls even before a client asked for them.
    package var pulledTables: [TableName] = []
    /// What is said of single tables.
    package var policies: [PolicySetting] = []
    /// What the guard compares with.
    package var rules = GuardRules()
    /// The port that the dashboard alone has; nil where it shares the clients'.
    package var dashboardPort: UInt16?
    /// The header fields of clients that are sent on.
    package var forwardedHeaders: [ForwardableName] = []
    /// Whether users' tokens are kept, sealed, over a restart.
    package var remembersSignIn = false
    /// Where the service manager would put the secret for that; nil without a service manager.
    package var sealCredential: String?
    /// How long a token is taken that the backend does not confirm, in seconds.
    package var offlineGraceSeconds = Limits.offlineGraceSeconds
    /// How large each store may grow, in bytes; nil for as large as the disk.
    package var diskBudgetBytes: Int?
    /// Take another backend for a folder that belongs to one.
    package var rebind = false
    /// The generation of clients that show no mark of theirs.
    package var defaultGeneration = Generation.mobileApps
    /// Changes of different items that are sent at once.
    package var parallelism = 1
    /// Rows that a pull asks for in one page.
    package var pageRows = SyncLimits.pullPageRows
    /// Refuse the writes that the SDKs' own queues refuse.
    package var strictSDK = false

    /// The standard for a backend and a data folder.
    package init(backend: BackendAddress, folder: DataFolder) {
        self.backend = backend
        self.folder = folder
    }

    /// How the engines begin.
    var syncSettings: SyncSettings {
        SyncSettings(
            triggers: triggers, parallelism: parallelism, tables: tables ?? pulledTables,
            pageRows: pageRows)
    }
}
