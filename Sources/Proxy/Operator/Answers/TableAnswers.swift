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

    /// A column that names items of another table.
    package struct ParentLink: Codable, Sendable, Hashable {
        /// The table of the items that are named.
        package let table: String
        /// The column that names one.
        package let column: String
    }

    /// A row with its sync state.
    package struct TableItem: Codable, Sendable, Hashable {
        package let item: Item
        /// The user's columns with the names of system columns of generation 2, which backends of other
        /// generations allow; null if there are none.
        package let ownColumns: Item?
        package let state: ItemState
        package let operationState: OperationState?
        /// The open operation of the item.
        package let operationId: String?
        /// Why it is in this state, in plain words.
        package let reason: String?
    }

    /// A row of the backend as this store last heard of it.
    package struct ServerRow: Codable, Sendable, Hashable {
        package let id: String
        /// As the backend wrote it.
        package let createdAt: String?
        /// As the backend wrote it.
        package let updatedAt: String?
        /// As the backend wrote it.
        package let version: String?
        package let deleted: Bool
        /// Whether this store has deleted it, and the backend has given nothing of it since. Then `updatedAt`
        /// and the columns are those of the row before the deletion; `updatedAt` is null where the delete
        /// named no version, so that the backend may have had a newer row.
        package let deletedSince: Bool
        /// The columns of the user.
        package let columns: Item
    }

    /// A row of the backend that is not here, since it cannot be taken. Each pull asks for some of them
    /// again.
    package struct SetAsideRow: Codable, Sendable, Hashable {
        /// Where one can be read; it may be one that no item can have.
        package let id: String?
        /// Why it cannot be taken: a sentence.
        package let reason: String
        /// As the backend sent it, at most 64 KiB of it.
        package let text: String
        package let since: Instant
        package let seenAt: Instant
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

    /// While it is running the numbers are those so far; follow `progress` by `GET …/runs/{id}`.
    package struct Run: Codable, Sendable, Hashable {
        package let id: String
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let kind: RunKind
        package let state: RunState
        /// One sentence for a person; null when there is nothing to say.
        package let reason: String?
        package let startedAt: Instant
        package let endedAt: Instant?
        package let push: PushReport?
        package let pull: [PullReport]
        package let progress: RunProgress?
    }

    /// How far a run under way is; null before it asked the backend for anything, and when it is over.
    package struct RunProgress: Codable, Sendable, Hashable {
        package let phase: SyncCore.Run.Progress.Phase
        /// Operations that had their turn, or rows of the table under way that came.
        package let done: Int
        /// Operations that are due, or rows that the backend announced; null when it did not.
        package let total: Int?
    }

    /// What a push did.
    package struct PushReport: Codable, Sendable, Hashable {
        package let sent: Int
        package let applied: Int
        package let conflicts: Int
        package let quarantined: Int
        package let left: Int
    }

    /// What the pull of one table did.
    package struct PullReport: Codable, Sendable, Hashable {
        package let table: String
        package let requests: Int
        package let received: Int
        /// Rows that the backend announced; null when it did not, or when that is not known any more.
        package let total: Int?
        package let applied: Int
        package let skippedDirty: Int
        package let deleted: Int
        package let error: String?
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
            parents: table.parents.map { .init(table: $0.table.text, column: $0.column) },
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
            isNamed: wait.notBefore != nil, failedRequest: wait.request.map { .init($0) })
    }
}

extension Answers.ServerRow {
    init(_ row: SyncCore.ServerRow) {
        self.init(
            id: row.id.text, createdAt: row.createdAt, updatedAt: row.updatedAt,
            version: row.version, deleted: row.deleted, deletedSince: row.deletedSince,
            columns: .init(.object(row.columns.all.map { .init($0.name, $0.value.value) })))
    }
}

extension Answers.SetAsideRow {
    init(_ row: SyncCore.SetAsideRow) {
        self.init(
            id: row.id, reason: row.reason, text: row.text, since: row.since, seenAt: row.seenAt)
    }
}

extension Answers.Run {
    init(_ run: SyncCore.Run, identity: String) {
        self.init(
            id: run.id, identity: identity, kind: run.kind, state: run.state, reason: run.reason,
            startedAt: run.startedAt, endedAt: run.endedAt, push: run.push.map { .init($0) },
            pull: run.pull.map { .init($0) },
            progress: run.progress.map {
                .init(phase: $0.phase, done: $0.done, total: $0.total)
            })
    }
}

extension Answers.PushReport {
    init(_ push: SyncCore.PushReport) {
        self.init(
            sent: push.sent, applied: push.applied, conflicts: push.conflicts,
            quarantined: push.quarantined, left: push.left)
    }
}

extension Answers.PullReport {
    init(_ pull: SyncCore.PullReport) {
        self.init(
            table: pull.table, requests: pull.requests, received: pull.received,
            total: pull.total, applied: pull.applied, skippedDirty: pull.skippedDirty,
            deleted: pull.deleted, error: pull.error)
    }
}
