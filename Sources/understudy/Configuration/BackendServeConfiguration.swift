import Backend
import HTTPServer
import Proxy
import TablesProtocol

/// The settings of `understudy backend`, read and checked.
struct BackendServeConfiguration: Sendable {
    /// Where it listens.
    let listen: ListenAddress
    /// Where its rows are without ``database``.
    let folder: DataFolder
    /// PostgreSQL's URL; nil for a file of SQLite.
    let database: String?
    /// Whether other machines may reach it without TLS.
    let allowsPlainHTTP: Bool
    /// What the backend is like.
    private(set) var options: BackendOptions

    /// Reads the settings.
    /// - Parameter verifiesTokens: whether `--access-file` says whose tokens are good.
    /// - Throws: ``ConfigurationProblem`` or ``StartProblem``.
    init(_ sources: Sources, verifiesTokens: Bool) throws {
        listen =
            try sources.value(Settings.anyListen) ?? ListenAddress(host: "127.0.0.1", port: 8081)
        folder =
            try sources.value(Settings.data)
            ?? DataFolder.standard(
                name: "understudy-backend", environment: sources.environment)
        database = try sources.value(Settings.database)
        allowsPlainHTTP = try sources.value(Settings.allowPlainHTTP) ?? false
        options = BackendOptions(flavour: try sources.value(Settings.flavour) ?? .mobileApps)
        let level = try sources.value(Settings.defaultAccess)
        if level != nil, !verifiesTokens { throw Self.needsAccess("--default-access") }
        try addTables(sources, verified: verifiesTokens ? level ?? .authenticated : nil)
        if options.flavour == .express || level == .disabled, options.tables.isEmpty {
            throw StartProblem(
                "Only the tables that are given exist with the flavour express and with the access "
                    + "disabled. Name one with --table.")
        }
    }

    /// The tables of the settings. Where tokens are not verified and a table needs a sign-in, only tokens of
    /// this backend are good.
    /// - Parameter verified: the access of what nothing is said about, where tokens are verified.
    private mutating func addTables(_ sources: Sources, verified: AccessLevel?) throws {
        for table in try sources.list(Settings.backendTable) {
            if table.needsAccess, verified == nil {
                throw Self.needsAccess("--table \(table.name)")
            }
            options.tables[table.name] = table.options(of: options.flavour, verified: verified)
        }
        var unnamed = TableOptions.standard(of: options.flavour)
        if verified == .authenticated { unnamed.signedIn = Set(TableOptions.Operation.allCases) }
        if verified == .disabled { unnamed.disabled = Set(TableOptions.Operation.allCases) }
        for name in try sources.list(Settings.integerIDs) {
            options.tables[name, default: unnamed].idKind = .integer
        }
        for name in try sources.list(Settings.hardDelete) {
            options.tables[name, default: unnamed].softDelete = false
        }
        for name in try sources.list(Settings.signIn) {
            options.tables[name, default: unnamed].needsSignIn = verified == nil
            if verified != nil {
                options.tables[name]?.ownerColumn = "userId"
                options.tables[name]?.disabled = []
            }
        }
        if let verified {
            options.tokens = .verified
            options.dynamicTable = options.dynamicTable == nil ? nil : unnamed
            if verified == .disabled {
                options.dynamicTable = nil
                options.unknownTable = .notFound
            }
        } else if options.tables.values.contains(where: \.needsSignIn) {
            options.tokens = .issued
        }
    }

    private static func needsAccess(_ what: String) -> StartProblem {
        StartProblem(
            "\(what) says who may do what, for which users' tokens have to be verified: say whose "
                + "with --access-file.")
    }
}
