import ArgumentParser

/// Which command a configuration file is for.
enum ConfigurationKind: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
    case serve, backend

    /// The settings of such a file, in the order of the commented one.
    var settings: [ServeSetting] {
        switch self {
        case .serve: ServeSetting.all
        case .backend: ServeSetting.ofBackend
        }
    }

    /// The settings that a SIGHUP applies.
    var reloadable: Set<String> {
        switch self {
        case .serve: Reload.reloadable
        case .backend: BackendSecurity.reloadable
        }
    }

    /// The name of the file at its standard path.
    var fileName: String {
        switch self {
        case .serve: "understudy.conf"
        case .backend: "backend.conf"
        }
    }
}
