package import SyncCore
package import TablesProtocol

/// The settings of a proxy, without those of its sockets.
package struct ProxyConfiguration: Sendable {
    package var backend: BackendAddress
    package var backendGeneration = BackendConfiguration.GenerationChoice.auto
    /// The value of `X-ZUMO-APPLICATION` for a first generation backend; nil for the one that clients send.
    package var applicationKey: String?
    package var folder: DataFolder
    package var triggers = Set(Trigger.allCases)
    /// The only tables that are allowed; each sync pulls all of them. Nil allows any table.
    package var tables: [TableName]?
    /// The parts of tables that are copied in part.
    package var parts: [TableName: TablePart] = [:]
    /// Tables that every sync pulls, also before a client has asked for them.
    package var pulledTables: [TableName] = []
    /// The policies of single tables.
    package var policies: [PolicySetting] = []
    package var rules = GuardRules()
    /// The dashboard's own port; nil when it shares the clients' port.
    package var dashboardPort: UInt16?
    /// The header fields of clients that are forwarded to the backend.
    package var forwardedHeaders: [ForwardableName] = []
    /// Whether users' tokens are kept on disk, sealed.
    package var remembersSignIn = false
    /// The file in which the service manager may put the secret of the seal; nil without a service manager.
    package var sealCredential: String?
    /// Seconds for which a token is accepted that the backend does not confirm.
    package var offlineGraceSeconds = Limits.offlineGraceSeconds
    /// The largest size of each store in bytes; nil for no limit.
    package var diskBudgetBytes: Int?
    /// Whether a data folder of another backend is bound to this one.
    package var rebind = false
    /// Which users get which stores of another backend.
    package var takeovers: [StoreTakeover] = []
    /// The generation of clients whose requests do not show it.
    package var defaultGeneration = Generation.mobileApps
    /// Operations on different items that are sent at once.
    package var parallelism = 1
    package var pageRows = SyncLimits.pullPageRows
    /// How long what is settled is kept.
    package var retention = Retention()
    package var backups = BackupPlan()
    /// Who is told what happens.
    package var notifications = NotificationPlan()
    /// Whether writes are refused that the SDKs' own queues refuse.
    package var strictSDK = false

    /// The default settings for a backend and a data folder.
    package init(backend: BackendAddress, folder: DataFolder) {
        self.backend = backend
        self.folder = folder
    }

    /// The settings that the engines start with.
    var syncSettings: SyncSettings {
        SyncSettings(
            triggers: triggers, parallelism: parallelism, tables: tables ?? pulledTables,
            pageRows: pageRows, retention: retention)
    }
}
