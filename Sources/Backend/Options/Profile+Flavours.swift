import TablesProtocol

extension Profile {
    /// The decisions of the options' flavour, with what the options overrule.
    init(_ options: BackendOptions) {
        self =
            switch options.flavour {
            case .mobileServices: .mobileServices
            case .mobileApps: .mobileApps
            case .node: .node
            case .express: .express
            case .dotnet: .dotnet
            case .datasync: .datasync
            case .toolkit: .toolkit
            }
        pageRows = options.pageRows ?? pageRows
        maxTop = options.maxTop ?? maxTop
        puts = puts || (options.allowsPut && generation == .mobileApps && !isNode)
    }

    /// The first generation's Node runtime.
    private static let mobileServices = Profile(
        flavour: .mobileServices, generation: .mobileServices, apiVersion: .absent,
        pageRows: 50, maxTop: 1000, patches: true, puts: false, undelete: .post(status: 200),
        deleteAnswersRow: false, readDeleted: .missing, writeDeleted: .conflict,
        includesDeletedByID: true, duplicate: .error, reserved: .refused,
        bodyVersionCounts: false, badQueryStatus: 400, errors: .codeAndError, nextPage: .none)

    /// The second generation, each choice the one that most clients and servers agree on.
    private static let mobileApps = Profile(
        flavour: .mobileApps, generation: .mobileApps, apiVersion: .free,
        pageRows: 50, maxTop: 1000, patches: true, puts: false, undelete: .post(status: 201),
        deleteAnswersRow: false, readDeleted: .missing, writeDeleted: .missing,
        includesDeletedByID: true, duplicate: .storedItem, reserved: .dropped,
        bodyVersionCounts: true, badQueryStatus: 400, errors: .error, nextPage: .link)

    /// azure-mobile-apps for Node, as captured.
    private static let node = Profile(
        flavour: .node, generation: .mobileApps, apiVersion: .second,
        pageRows: 50, maxTop: 1000, patches: true, puts: false, undelete: .post(status: 201),
        deleteAnswersRow: true, readDeleted: .missing, writeDeleted: .found,
        includesDeletedByID: false, duplicate: .sentItem, reserved: .refused,
        bodyVersionCounts: true, badQueryStatus: 500, errors: .error, nextPage: .nodeLink)

    /// The same server in an application of its own (`app.use(mobile)` with tables of its own and a
    /// `pageSize` of 1,000).
    private static var express: Profile {
        var profile = node
        profile.flavour = .express
        profile.pageRows = 1000
        return profile
    }

    /// Microsoft.Azure.Mobile.Server.
    private static let dotnet = Profile(
        flavour: .dotnet, generation: .mobileApps, apiVersion: .second,
        pageRows: 50, maxTop: nil, patches: true, puts: false, undelete: .post(status: 200),
        deleteAnswersRow: false, readDeleted: .missing, writeDeleted: .missing,
        includesDeletedByID: true, duplicate: .error, reserved: .dropped,
        bodyVersionCounts: true, badQueryStatus: 400, errors: .message, nextPage: .link)

    /// Microsoft.AspNetCore.Datasync.
    private static let datasync = Profile(
        flavour: .datasync, generation: .datasync, apiVersion: .secondOrThird,
        pageRows: 100, maxTop: 512_000, patches: true, puts: true, undelete: .patch,
        deleteAnswersRow: false, readDeleted: .gone, writeDeleted: .gone,
        includesDeletedByID: true, duplicate: .storedItem, reserved: .dropped,
        bodyVersionCounts: false, badQueryStatus: 400, errors: .problem, nextPage: .nextLink)

    /// CommunityToolkit.Datasync.Server.
    private static let toolkit = Profile(
        flavour: .toolkit, generation: .datasync, apiVersion: .free,
        pageRows: 100, maxTop: 128_000, patches: false, puts: true, undelete: .put,
        deleteAnswersRow: false, readDeleted: .gone, writeDeleted: .gone,
        includesDeletedByID: true, duplicate: .storedItem, reserved: .dropped,
        bodyVersionCounts: false, badQueryStatus: 400, errors: .empty, nextPage: .nextQuery)
}
