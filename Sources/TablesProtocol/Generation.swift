/// Which generation of the SDKs and servers speaks: the shape of bodies, names and errors.
public enum Generation: Int, Sendable, Hashable, CaseIterable {
    /// Azure Mobile Services: system properties begin with `__`, sent only on request.
    case mobileServices = 1
    /// Azure Mobile Apps, `ZUMO-API-VERSION: 2.0.0`.
    case mobileApps = 2
    /// Datasync (v5, v6, and the Community Toolkit), `ZUMO-API-VERSION: 3.0.0`.
    case datasync = 3

    /// Rows in one answer when the client asks for more or does not say.
    public var pageRows: Int {
        switch self {
        case .mobileServices, .mobileApps: Limits.pageRows
        case .datasync: Limits.datasyncPageRows
        }
    }
}
