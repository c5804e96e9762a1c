import TablesProtocol

/// The real server whose answers the backend gives.
public enum BackendFlavour: String, Sendable, Hashable, CaseIterable {
    /// First generation: `__` properties on request, integer-id tables, application key.
    case mobileServices = "1"
    /// Second generation without any server's peculiarities; the default.
    case mobileApps = "2"
    /// Second generation as the Node server answers, its quirks included.
    case node = "2-node"
    /// The Node server as an application of its own runs it: only the tables of a given list exist,
    /// they delete for good unless told otherwise, and a page has 1,000 rows.
    case express = "express"
    /// Second generation as the .NET server answers.
    case dotnet = "2-dotnet"
    /// Third generation, ASP.NET Core Datasync (v5, v6).
    case datasync = "3"
    /// Third generation, Community Toolkit (v8 and later).
    case toolkit = "3-toolkit"
}

/// The rules of a flavour where the real servers differ. There is one value for each flavour, below.
struct Profile: Sendable {
    /// The `ZUMO-API-VERSION` that a request must have.
    enum APIVersion: Sendable { case free, second, secondOrThird, absent }
    /// The request by which a client restores a deleted item, and the status of the answer.
    enum Undelete: Sendable, Equatable { case post(status: Int), patch, put }
    /// The answer to a read or a write of a deleted item by its id, unless deleted ones are included.
    enum Deleted: Sendable { case missing, gone, found, conflict }
    /// The body of the 409 to an insert of an id that exists.
    enum Duplicate: Sendable { case sentItem, storedItem, error }
    /// The effect of system properties in a body.
    enum Reserved: Sendable { case refused, dropped }
    /// The way in which an answer says that more rows follow.
    enum NextPage: Sendable { case none, link, nodeLink, nextLink, nextQuery }

    var flavour: BackendFlavour
    var generation: Generation
    var apiVersion: APIVersion
    var pageRows: Int
    var maxTop: Int?
    var patches: Bool
    var puts: Bool
    var undelete: Undelete
    var deleteAnswersRow: Bool
    var readDeleted: Deleted
    var writeDeleted: Deleted
    var includesDeletedByID: Bool
    var duplicate: Duplicate
    var reserved: Reserved
    var bodyVersionCounts: Bool
    var badQueryStatus: Int
    var errors: AnswerForm.ErrorBody
    var nextPage: NextPage

    /// Whether this is the Node server of the second generation, whose tables have columns.
    var isNode: Bool { flavour == .node || flavour == .express }

    /// Whether only the tables of the options exist, and no path but theirs and the login's.
    var hasOnlyListedTables: Bool { flavour == .express }

    /// Whether each user has items of their own in a table that needs a sign-in.
    var separatesUsers: Bool { flavour != .express }

    /// Whether a user's column has the name of the id or of a system column of the flavour. Its clients
    /// neither see nor replace such a column, which came from a backend of another flavour
    /// (docs/decisions/protocol.md).
    /// - Parameter idKind: the kind of the ids of its table.
    func hides(_ column: String, _ idKind: IDKind) -> Bool {
        if ExactName(lowercasing: column).text == "id" { return true }
        // A first generation table with integer ids has no system columns.
        if generation == .mobileServices, idKind == .integer { return false }
        return SystemProperty(named: column, in: generation) != nil
    }
}

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
