@testable import Simulator

/// A bug in the simulated environment, not in the product. Each violates one invariant, and the check of
/// that invariant must find it.
enum Bug: String, CaseIterable, Sendable {
    /// The disk loses a count of the ledger.
    case losesLedgerCount
    /// The disk loses the last commits at a crash.
    case forgetsCommits
    /// The backend acknowledges an insert and drops it.
    case dropsInsert
    /// An update is applied a second time, without its condition.
    case repeatsUpdate
    /// An update is acknowledged at once, but applied after the next one.
    case reordersUpdates
    /// An item that was deleted locally is shown again.
    case showsDeletedItem
    /// The backend omits a row from a page.
    case omitsRow
    /// A conflict disappears without a decision.
    case dropsConflict
    /// The time of a next attempt is lost.
    case losesNextAttempt
    /// Old open operations are removed.
    case deletesOpenOperations
    /// The backend's row replaces one with local changes.
    case overwritesLocalChange
    /// The version that a client got changes later.
    case changesVersion
    /// Pages of the file are overwritten.
    case corruptsFile
    /// A change gets the stamp of the day before.
    case backdatesStamp
    /// The engine's loop is never started.
    case neverStartsLoop
    /// The backend acknowledges an insert, but applies it after the next one.
    case delaysInsert

    /// The invariant that the bug violates.
    var invariant: Invariant {
        switch self {
        case .losesLedgerCount: .ledger
        case .forgetsCommits, .dropsInsert: .kept
        case .repeatsUpdate: .once
        case .reordersUpdates: .order
        case .showsDeletedItem: .ownWrites
        case .omitsRow: .convergence
        case .dropsConflict: .decisions
        case .losesNextAttempt: .liveness
        case .deletesOpenOperations: .age
        case .overwritesLocalChange: .pending
        case .changesVersion: .answers
        case .corruptsFile: .file
        case .backdatesStamp: .downstream
        case .neverStartsLoop: .liveness
        case .delaysInsert: .parents
        }
    }

    /// The SQL that the bug runs on the store's file between two steps; nil if it works elsewhere.
    var sql: String? {
        switch self {
        case .losesLedgerCount: "UPDATE ledger SET value = value + 1 WHERE name = 'done'"
        case .showsDeletedItem:
            "UPDATE items SET deleted = 0 WHERE deleted = 1 AND pending IS NOT NULL"
        case .dropsConflict:
            "UPDATE operations SET state = 'queued', reason = NULL WHERE state = 'conflict'"
        case .losesNextAttempt:
            """
            UPDATE operations SET state = 'waiting',
              next_attempt_at = 99999999999999, not_before = 99999999999999
            WHERE state = 'queued'
            """
        case .overwritesLocalChange:
            """
            UPDATE items SET columns = shadow_columns
            WHERE pending IS NOT NULL AND shadow_columns IS NOT NULL
            """
        case .changesVersion: "UPDATE items SET version = 'bm90IHRoZSBzYW1l'"
        case .backdatesStamp: "UPDATE items SET stamp = stamp - 86400000 WHERE pending IS NULL"
        case .forgetsCommits, .dropsInsert, .repeatsUpdate, .reordersUpdates, .omitsRow,
            .deletesOpenOperations, .corruptsFile,
            .neverStartsLoop, .delaysInsert:
            nil
        }
    }
}
