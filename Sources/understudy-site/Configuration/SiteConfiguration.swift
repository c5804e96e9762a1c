import Backend
import Program
import Proxy
import Site

/// The settings of a site, read and checked.
struct SiteConfiguration: Sendable {
    /// What it has in common with other backends.
    let backend: BackendServeConfiguration
    /// PostgreSQL's URL; nil for a file of SQLite.
    let database: String?
    /// Seconds from SIGTERM to the stop.
    let drainSeconds: Int

    /// Reads the settings.
    /// - Throws: ``StartProblem`` also where other machines would reach rows that nothing protects.
    init(_ sources: Sources, _ security: BackendSecurity) throws(StartProblem) {
        do {
            let verifiesTokens = security.access != nil
            let level = try sources.value(Settings.defaultAccess)
            if level != nil, !verifiesTokens {
                throw BackendServeConfiguration.needsAccess("--default-access")
            }
            backend = try BackendServeConfiguration(
                sources, access: verifiesTokens ? level ?? .authenticated : nil)
            database = try sources.value(Settings.database)
            drainSeconds =
                try sources.value(Settings.drain) ?? (verifiesTokens ? Limits.drainSeconds : 0)
            try security.check(
                backend.listen,
                allowsPlainHTTP: try sources.value(Settings.servePlainHTTP) ?? false)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    /// Opens the backend on its database.
    func open(_ options: BackendOptions) throws -> TablesBackend {
        guard let database else {
            return try TablesBackend(at: "\(backend.folder.path)/backend.sqlite", options: options)
            {
                ThisProcess.now
            }
        }
        return try TablesBackend(database: database, options: options) { ThisProcess.now }
    }
}

/// The configuration file of a site.
enum SiteFile: ConfiguredProgram {
    static let kind = ConfigurationKind(
        program: "understudy-site", fileName: "backend.conf", settings: ServeSetting.ofSite,
        reloadable: BackendSecurity.reloadable
    ) { sources throws(StartProblem) in
        _ = try SiteConfiguration(sources, BackendSecurity(sources))
    }
}

extension UnknownVariable {
    /// Those among the names of an environment.
    static func all(_ names: [String]) -> [UnknownVariable] {
        all(
            names, settings: ServeSetting.ofSite, others: connection, of: SiteFile.kind.program)
    }

    /// What `copy` reads.
    private static let connection = [
        Settings.backendCA.variable, Settings.backendCertificate.variable,
        Settings.backendKey.variable, Settings.backendProxy.variable,
        Settings.backendGeneration.variable, Settings.pageSize.variable,
    ]
}
