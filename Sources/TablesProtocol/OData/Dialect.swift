/// The two versions of OData that backends read.
public enum Dialect: Sendable, Hashable, CaseIterable {
    /// Generations 1 and 2.
    case v3
    /// Generation 3.
    case v4

    /// The dialect of a generation's servers.
    public init(_ generation: Generation) {
        switch generation {
        case .mobileServices, .mobileApps: self = .v3
        case .datasync: self = .v4
        }
    }
}
