import TablesProtocol

/// How a flavour decides where the real servers differ. One value for each flavour, in
/// `Profile+Flavours.swift`.
struct Profile: Sendable {
    /// What the `ZUMO-API-VERSION` of a request must be.
    enum APIVersion: Sendable { case free, second, secondOrThird, absent }
    /// How a client brings a deleted item back, and the status of the answer.
    enum Undelete: Sendable, Equatable { case post(status: Int), patch, put }
    /// What a read or a write of a deleted item by its id gives, unless deleted ones are included.
    enum Deleted: Sendable { case missing, gone, found, conflict }
    /// What an insert of an id that exists answers with its 409.
    enum Duplicate: Sendable { case sentItem, storedItem, error }
    /// What system properties in a body do.
    enum Reserved: Sendable { case refused, dropped }
    /// The shape of an error body.
    enum ErrorShape: Sendable { case error, codeAndError, message, problem, empty }
    /// How an answer says that more rows follow.
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
    var errors: ErrorShape
    var nextPage: NextPage

    /// Whether this is the Node server of the second generation, whose tables have columns.
    var isNode: Bool { flavour == .node || flavour == .express }

    /// Whether only the tables of the options exist, and no path but theirs and the login's.
    var hasOnlyListedTables: Bool { flavour == .express }

    /// Whether each user has items of their own in a table that needs a sign-in.
    var separatesUsers: Bool { flavour != .express }
}
