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
    /// Seconds from SIGTERM to the stop.
    let drainSeconds: Int
    /// What the backend is like.
    private(set) var options: BackendOptions

    /// Reads the settings.
    /// - Parameter verifiesTokens: whether `--access-file` says whose tokens are good.
    init(_ sources: Sources, verifiesTokens: Bool) throws(StartProblem) {
        do {
            try self.init(reading: sources, verifiesTokens)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private init(reading sources: Sources, _ verifiesTokens: Bool) throws {
        listen =
            try sources.value(Settings.anyListen) ?? ListenAddress(host: "127.0.0.1", port: 8081)
        folder =
            try sources.value(Settings.backendData)
            ?? DataFolder.standard(
                name: "understudy-backend", environment: sources.environment)
        database = try sources.value(Settings.database)
        allowsPlainHTTP = try sources.value(Settings.servePlainHTTP) ?? false
        drainSeconds =
            try sources.value(Settings.drain) ?? (verifiesTokens ? Limits.drainSeconds : 0)
        options = BackendOptions(flavour: try sources.value(Settings.flavour) ?? .mobileApps)
        options.pageRows = try sources.value(Settings.pageRows)
        options.requestsPerSecond = try sources.value(Settings.requestsPerSecond)
        options.publicAddress = try sources.value(Settings.publicAddress)
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
            if options.tables[table.name] != nil {
                throw StartProblem(
                    "--table \(table.name) is said twice. Join the words of a table by +.", .usage)
            }
            options.tables[table.name] = table.options(of: options.flavour, verified: verified)
        }
        let named = options.tables
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
                // What --table forbids of it stays forbidden, and its column is the one said there.
                options.tables[name]?.ownerColumn = named[name]?.ownerColumn ?? "userId"
                options.tables[name]?.disabled = named[name]?.disabled ?? []
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
            "\(what) says who may do what, so users' tokens have to be verified. Say whose tokens "
                + "are good with --access-file.")
    }
}
