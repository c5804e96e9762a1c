@testable import Simulator

/// A bug put in on purpose, into the simulated world and never into the product: each breaks one
/// invariant, and the check of that invariant must find it.
enum Bug: String, CaseIterable, Sendable {
    /// The disk loses a counter of the ledger.
    case miscounts
    /// The disk has not kept the last commits when the process dies.
    case forgetsCommits
    /// The backend acknowledges an insert and throws it away.
    case swallows
    /// An update is applied again later, without its condition.
    case repeats
    /// An update is acknowledged at once and applied only after the next one.
    case overtakes
    /// What was deleted here is shown again.
    case hidesDeletion
    /// The backend leaves a row out of a page.
    case leavesOut
    /// A conflict goes away and nobody decided it.
    case dropsConflict
    /// A time of a next attempt is lost.
    case oversleeps
    /// Old open operations are swept away.
    case expires
    /// The backend's row is laid over one with local changes.
    case overwrites
    /// The version that a client was given is another one later.
    case changesVersion
    /// A page of the file is overwritten.
    case corrupts
    /// A change gets the stamp of the day before.
    case backdates
    /// The engine's own loop is never set going.
    case standsStill
    /// The backend acknowledges an insert and makes it after the next one.
    case insertsLate

    /// The invariant that it breaks.
    var invariant: Invariant {
        switch self {
        case .miscounts: .ledger
        case .forgetsCommits, .swallows: .kept
        case .repeats: .once
        case .overtakes: .order
        case .hidesDeletion: .ownWrites
        case .leavesOut: .convergence
        case .dropsConflict: .decisions
        case .oversleeps: .liveness
        case .expires: .age
        case .overwrites: .pending
        case .changesVersion: .answers
        case .corrupts: .file
        case .backdates: .downstream
        case .standsStill: .liveness
        case .insertsLate: .parents
        }
    }

    /// What it does to the store's file between two steps; nil when it works elsewhere.
    var sql: String? {
        switch self {
        case .miscounts: "UPDATE ledger SET value = value + 1 WHERE name = 'done'"
        case .hidesDeletion:
            "UPDATE items SET deleted = 0 WHERE deleted = 1 AND pending IS NOT NULL"
        case .dropsConflict:
            "UPDATE operations SET state = 'queued', reason = NULL WHERE state = 'conflict'"
        case .oversleeps:
            """
            UPDATE operations SET state = 'waiting',
              next_attempt_at = 99999999999999, not_before = 99999999999999
            WHERE state = 'queued'
            """
        case .overwrites:
            """
            UPDATE items SET columns = shadow_columns
            WHERE pending IS NOT NULL AND shadow_columns IS NOT NULL
            """
        case .changesVersion: "UPDATE items SET version = 'bm90IHRoZSBzYW1l'"
        case .backdates: "UPDATE items SET stamp = stamp - 86400000 WHERE pending IS NULL"
        case .forgetsCommits, .swallows, .repeats, .overtakes, .leavesOut, .expires, .corrupts,
            .standsStill, .insertsLate:
            nil
        }
    }
}
