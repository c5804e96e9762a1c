/// A setting of `serve` without the type of its value, for the configuration file, `config show` and
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

    private init<Value>(_ setting: Setting<Value>) {
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
    }

    /// The setting with this name.
    static func named(_ name: some StringProtocol) -> ServeSetting? {
        all.first { $0.name == name }
    }

    /// All settings, in the order of the commented file.
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
}
