import Program
import Proxy

extension ServeSetting {
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

    /// All settings of `backend`.
    static let ofBackend: [ServeSetting] = [
        ServeSetting(Settings.anyListen),
        ServeSetting(Settings.publicAddress),
        ServeSetting(Settings.backendTable),
        ServeSetting(Settings.backendData),
        ServeSetting(Settings.flavour),
        ServeSetting(Settings.integerIDs),
        ServeSetting(Settings.hardDelete),
        ServeSetting(Settings.signIn),
        ServeSetting(Settings.pageRows),
        ServeSetting(Settings.requestsPerSecond),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]
}

extension UnknownVariable {
    /// Those among the names of an environment.
    static func all(_ names: [String]) -> [UnknownVariable] {
        all(
            names, settings: ServeSetting.all + ServeSetting.ofBackend,
            others: SiteWords.variables + [Settings.backendListen.variable],
            of: ServeFile.kind.program)
    }

    /// Says those of this process on standard error, once.
    static let said: Void = {
        for variable in all(ThisProcess.environmentNames) { ThisProcess.say("\(variable)") }
    }()
}
