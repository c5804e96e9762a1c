/// A setting of `serve` as the configuration file, `config show` and `config init` know it: without
/// the type of its value.
struct ServeSetting: Sendable {
    /// The flag without dashes.
    let name: String
    /// The variable of the environment.
    let variable: String
    /// What it may say.
    let allowed: String
    /// What it is for, in a sentence.
    let summary: String
    /// What holds when nothing is said.
    let standard: String
    /// A value to begin with, for the commented file.
    let example: String
    /// Whether it may be said several times.
    let isList: Bool
    /// Whether a text may be its value.
    let accepts: @Sendable (String) -> Bool

    private init<Value>(
        _ setting: Setting<Value>, _ summary: String, standard: String, example: String,
        isList: Bool = false
    ) {
        name = setting.name
        variable = setting.variable
        allowed = setting.allowed
        self.summary = summary
        self.standard = standard
        self.example = example
        self.isList = isList
        accepts = { setting.read($0) != nil }
    }

    /// The setting with this name.
    static func named(_ name: some StringProtocol) -> ServeSetting? {
        all.first { $0.name == name }
    }

    /// All of them, in the order of the commented file.
    static let all: [ServeSetting] = [
        ServeSetting(
            Settings.backend, "The backend to stand in for.", standard: "none; it must be said",
            example: "https://example.azurewebsites.net"),
        ServeSetting(
            Settings.backendGeneration, "The backend's generation; auto asks it.",
            standard: "auto", example: "auto"),
        ServeSetting(
            Settings.applicationKeyFile,
            "A file with the application key of a generation 1 backend.",
            standard: "the key that its clients send", example: "/etc/understudy/application.key"),
        ServeSetting(
            Settings.backendCA, "The authorities to trust for the backend, a PEM file.",
            standard: "the system's", example: "/etc/understudy/authorities.pem"),
        ServeSetting(
            Settings.backendCertificate, "The certificate to show the backend, a PEM file.",
            standard: "none", example: "/etc/understudy/client.pem"),
        ServeSetting(
            Settings.backendKey, "The key to backend-cert, a PEM file.", standard: "none",
            example: "/etc/understudy/client-key.pem"),
        ServeSetting(
            Settings.backendProxy, "The proxy on the way to the backend.", standard: "none",
            example: "http://10.0.0.1:3128"),
        ServeSetting(
            Settings.allowPlainHTTP,
            "Whether rows and tokens may travel in the clear to a backend on another machine.",
            standard: "no", example: "no"),
        ServeSetting(
            Settings.listen, "Where clients find Understudy.", standard: "127.0.0.1:8080",
            example: "127.0.0.1:8080"),
        ServeSetting(
            Settings.dashboardListen,
            "Where the dashboard is, apart from clients, so that the backend's pages at the clients' "
                + "port may have that origin for themselves.",
            standard: "where clients find Understudy", example: "127.0.0.1:8090"),
        ServeSetting(
            Settings.socket, "A Unix socket to listen on as well, for this user alone.",
            standard: "none", example: "/run/user/1000/understudy.sock"),
        ServeSetting(
            Settings.tablesAccess,
            "Whether every program of this machine may reach /tables, or only clients that have an "
                + "address of their own.", standard: "open", example: "open"),
        ServeSetting(
            Settings.data, "The folder for everything that is kept.",
            standard: "understudy in $XDG_DATA_HOME or ~/.local/share",
            example: "/home/me/.local/share/understudy"),
        ServeSetting(
            Settings.rememberSignIn,
            "Whether users' tokens are kept, sealed, so that their queues go on after a restart.",
            standard: "no; they are in memory only", example: "no"),
        ServeSetting(
            Settings.offlineGrace,
            "How long a user's token is taken that the backend cannot confirm, since it is away.",
            standard: "30d", example: "30d"),
        ServeSetting(
            Settings.diskBudget, "How large the store of each identity may grow.",
            standard: "as large as the disk", example: "4G"),
        ServeSetting(
            Settings.sync, "Whether changes travel by themselves or only when a sync is asked for.",
            standard: "auto", example: "auto"),
        ServeSetting(
            Settings.table, "The only tables there are.", standard: "any", example: "todoitem",
            isList: true),
        ServeSetting(
            Settings.policy,
            "How a table is read and written, and who decides its conflicts.",
            standard: "local+ask for each table", example: "todoitem=revalidate+write-through",
            isList: true),
        ServeSetting(
            Settings.allowHost, "Another name with port by which clients call Understudy.",
            standard: "none", example: "10.0.2.2:8080", isList: true),
        ServeSetting(
            Settings.allowOrigin, "The origin of another page that may call /tables.",
            standard: "none", example: "http://localhost:3000", isList: true),
        ServeSetting(
            Settings.forwardHeader,
            "A header field of clients that is kept with a write and sent on with it.",
            standard: "none", example: "X-Tenant", isList: true),
        ServeSetting(
            Settings.defaultGeneration, "The generation of clients that show no mark of theirs.",
            standard: "2", example: "2"),
        ServeSetting(
            Settings.parallelism, "How many changes of different items are sent at once.",
            standard: "1", example: "4"),
        ServeSetting(
            Settings.pageSize, "Rows that a pull asks for in one page; the backend may give fewer.",
            standard: "1000", example: "100"),
        ServeSetting(
            Settings.strictSDK, "Whether the writes that the SDKs' queues refuse are refused.",
            standard: "false", example: "true"),
        ServeSetting(
            Settings.logLevel, "The least that the log says; debug: each request.",
            standard: "notice",
            example: "notice"),
        ServeSetting(
            Settings.logFormat, "Lines for a person, or JSON; auto: text on a terminal.",
            standard: "auto", example: "auto"),
    ]
}
