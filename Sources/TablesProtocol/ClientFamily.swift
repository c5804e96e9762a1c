/// Which SDK a request comes from, as far as the shape of its answer depends on it.
public enum ClientFamily: Sendable, Hashable, CaseIterable {
    /// The first generation.
    case mobileServices
    /// The second generation.
    case mobileApps
    /// The third generation, `Microsoft.Datasync.Client`: follows a next link that is a path.
    case datasync
    /// The third generation, Community Toolkit: follows a next link that is only a query.
    case toolkit

    /// The generation of the family.
    public var generation: Generation {
        switch self {
        case .mobileServices: .mobileServices
        case .mobileApps: .mobileApps
        case .datasync, .toolkit: .datasync
        }
    }
}
