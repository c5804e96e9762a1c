package import Backend
package import HTTPServer
package import Proxy
import TablesProtocol

/// The settings of a backend, read and checked.
package struct BackendServeConfiguration: Sendable {
    /// Where it listens.
    package let listen: ListenAddress
    /// Where its rows are, unless they are in PostgreSQL.
    package let folder: DataFolder
    /// What the backend is like.
    package private(set) var options: BackendOptions

    /// Reads the settings.
    /// - Parameter access: who may do what nothing is said about, where tokens are verified; nil where they
    ///   are not.
    package init(_ sources: Sources, access: AccessLevel? = nil) throws(StartProblem) {
        do {
            try self.init(reading: sources, access)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private init(reading sources: Sources, _ access: AccessLevel?) throws {
        listen =
            try sources.value(Settings.anyListen) ?? ListenAddress(host: "127.0.0.1", port: 8081)
        folder =
            try sources.value(Settings.backendData)
            ?? DataFolder.standard(
                name: "understudy-backend", environment: sources.environment)
        options = BackendOptions(flavour: try sources.value(Settings.flavour) ?? .mobileApps)
        options.pageRows = try sources.value(Settings.pageRows)
        options.requestsPerSecond = try sources.value(Settings.requestsPerSecond)
        options.publicAddress = try sources.value(Settings.publicAddress)
        try addTables(sources, verified: access)
        if options.flavour == .express || access == .disabled, options.tables.isEmpty {
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

    /// The sentence on a setting that needs users whose tokens are verified.
    package static func needsAccess(_ what: String) -> StartProblem {
        StartProblem(
            "\(what) says who may do what, so users' tokens have to be verified. Say whose tokens "
                + "are good with --access-file.")
    }
}
