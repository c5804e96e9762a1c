package import SyncCore
package import TablesProtocol

// Answers about tables and their rows, and about runs.
extension Answers {
    /// One table of a store.
    package struct TableStatus: Codable, Sendable, Hashable {
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let name: String
        /// Rows that are not deleted.
        package let items: Int
        /// Open operations.
        package let pending: Int
        /// False until its first pull is complete.
        package let isComplete: Bool
        /// The query string of the rows that are copied; null for all rows.
        package let part: String?
        package let lastPull: Instant?
        package let readPolicy: ReadPolicy
        package let writePolicy: WritePolicy
        package let conflictPolicy: ConflictPolicy
        package let unconditionalPolicy: ConflictPolicy
        package let isPublic: Bool
        package let idKind: IDKind
        /// How this table is pulled.
        package let paging: Paging
        /// By which columns an item names items of other tables: it is inserted after them and deleted before
        /// them.
        package let parents: [ParentLink]
        /// Whether an update that is followed by a delete is sent all the same, before it.
        package let preserveHistory: Bool
        /// What a person has paused: nothing, its pushes, its pulls, or both.
        package let pause: TablePause
        /// What a person should know: why its changes wait, why pulls fail, rows that are set aside, how the
        /// backend lists it.
        package let warning: String?
        /// Why its pulls fail; null while they succeed.
        package let pullError: String?
        package let pullsFailSince: Instant?
        /// Why its changes are put off while those of other tables are sent; null while the backend takes
        /// them.
        package let pushWait: TableWait?
        /// Why its pulls are put off while other tables are pulled; null while the backend answers them.
        package let pullWait: TableWait?
        /// Rows of the backend that are not here, since they cannot be taken.
        package let setAside: Int
        /// What the last comparison with the backend that found rows which no pull had shown has mended; null
        /// without one.
        package let drift: String?
        /// The indexes that its settings name, each as the `$orderby` of the lists that it serves. Of one that is
        /// not built `warning` says why.
        package let indexes: [String]
    }

    /// The backend fails for this table (502, 503, 504), and answers otherwise.
    package struct TableWait: Codable, Sendable, Hashable {
        /// One sentence for a person.
        package let reason: String
        package let since: Instant
        /// Failures in a row.
        package let failures: Int
        package let nextTry: Instant
        /// Whether the backend named the time (Retry-After). Nothing is tried before it then, also if a
        /// person asks for a sync.
        package let isNamed: Bool
        package let failedRequest: FailedRequest?
    }

    /// A row with its sync state.
    package struct TableItem: Codable, Sendable, Hashable {
        package let item: Columns
        /// The user's columns with the names of system columns of generation 2, which backends of other
        /// generations allow; null if there are none.
        package let ownColumns: Columns?
        package let state: ItemState
        package let operationState: OperationState?
        /// The open operation of the item.
        package let operationId: String?
        /// Why it is in this state, in plain words.
        package let reason: String?
    }

    /// What was purged.
    package struct PurgeResult: Codable, Sendable, Hashable {
        package let table: String
        /// Rows that left the store.
        package let purged: Int
        /// Operations discarded by force.
        package let discarded: Int
        /// The entry whose undo brings the discarded operations back; null without any.
        package let historyId: Int64?
    }

    /// What was removed.
    package struct RemoveResult: Codable, Sendable, Hashable {
        package let table: String
        package let removed: Int
        package let discarded: Int
    }
}

extension Answers.TableStatus {
    init(_ table: SyncCore.TableStatus, identity: String) {
        self.init(
            identity: identity, name: table.name, items: table.items, pending: table.pending,
            isComplete: table.isComplete, part: table.part, lastPull: table.lastPull,
            readPolicy: table.readPolicy.resolved(by: table.standard),
            writePolicy: table.writePolicy.resolved(by: table.standard),
            conflictPolicy: table.conflictPolicy, unconditionalPolicy: table.unconditionalPolicy,
            isPublic: table.isPublic, idKind: table.idKind, paging: table.paging,
            parents: table.parents,
            preserveHistory: table.preservesHistory, pause: table.pause,
            warning: table.warning, pullError: table.pullError,
            pullsFailSince: table.pullsFailSince, pushWait: table.pushWait.map { .init($0) },
            pullWait: table.pullWait.map { .init($0) }, setAside: table.setAside,
            drift: table.drift, indexes: table.indexes)
    }
}

extension Answers.TableWait {
    init(_ wait: SyncCore.TableWait) {
        self.init(
            reason: wait.reason, since: wait.since, failures: wait.failures, nextTry: wait.until,
            isNamed: wait.notBefore != nil, failedRequest: wait.request)
    }
}
