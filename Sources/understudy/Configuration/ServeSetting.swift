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
