public import TablesProtocol

/// What an operation does to its item.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
    case insert, update, replace, delete, undelete

    /// Whether it changes columns of an item that is there.
    var changes: Bool {
        switch self {
        case .update, .replace: true
        case .insert, .delete, .undelete: false
        }
    }
}

/// The state of an operation. Each state says what may have happened on the backend.
public enum OperationState: String, Sendable, Hashable, CaseIterable {
    /// Due, and no request for it is in flight.
    case queued
    /// Its request is in flight, or is about to be sent.
    case sending
    /// Tried again at its next attempt.
    case waiting
    /// A request for it has no verdict. The row is read back before anything else happens.
    case unknown
    /// Both sides changed the item, and no policy decides; a person does.
    case conflict
    /// The backend refused it; a person decides.
    case quarantined
    /// The backend has applied it.
    case done
    /// A person or a policy discarded it.
    case discarded
    /// Merged into another operation, or it had no effect to send.
    case collapsed

    /// Whether the operation still waits for the backend or a person.
    public var isOpen: Bool {
        switch self {
        case .queued, .sending, .waiting, .unknown, .conflict, .quarantined: true
        case .done, .discarded, .collapsed: false
        }
    }

    /// The states of open operations.
    public static let open = Set(allCases.filter(\.isOpen))
    /// The open states in which a person decides.
    public static let waitsForPerson: Set<OperationState> = [.conflict, .quarantined]
    /// The open states that wait for the backend.
    public static let waitsForBackend = open.subtracting(waitsForPerson)
}

/// An operation's id: a UUID as text, also sent as `Idempotency-Key`.
public typealias OperationID = String

/// One operation as lists show it.
public struct OperationSummary: Sendable, Hashable {
    /// Its id.
    public var id: OperationID
    /// The identity whose credential the operation is sent with.
    public var identity: String
    /// Its place in the queue; never used twice.
    public var seq: Int64
    /// The table as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// What it does.
    public var kind: OperationKind
    /// Where it stands.
    public var state: OperationState
    /// Why it is in this state, in plain words.
    public var reason: String?
    /// Grows with every change of the operation. Actions name the revision that they decide on.
    public var revision: Int
    /// The number of requests made for it.
    public var attempts: Int
    /// Whether a request without a verdict may have taken effect.
    public var maybeApplied: Bool
    /// When the write was accepted.
    public var createdAt: Instant
    /// When its first request began; nil before the first.
    public var firstAttemptAt: Instant?
    /// When its latest request began; nil before the first.
    public var lastAttemptAt: Instant?
    /// When it is next tried; nil if it is due now or waits for something other than a time.
    public var nextAttemptAt: Instant?
    /// When it was closed; nil while it is open.
    public var closedAt: Instant?
    /// The status of the last attempt; nil if no answer came.
    public var lastStatus: Int?
    /// Why the last attempt failed, in plain words.
    public var lastError: String?
    /// The names of the user's columns that it changes.
    public var changedColumns: [String]
    /// A short text of the item for a person.
    public var title: String?
}

/// One operation with its rows and attempts.
public struct OperationDetail: Sendable, Hashable {
    /// The operation as lists show it.
    public var summary: OperationSummary
    /// The columns that are or will be sent: all of an insert or a replace, the changed ones of an update.
    public var payload: JSONText?
    /// The row that the change started from.
    public var base: JSONText?
    /// The local row; nil if it is deleted locally.
    public var mine: JSONText?
    /// The backend's last known row; nil if it has none or none is known.
    public var server: JSONText?
    /// The client's header fields that are sent with it, as `Name: value`. A secret value is left out.
    public var headers: [String]
    /// Every request made for it, oldest first.
    public var attemptLog: [AttemptRecord]
}

/// Operations with the same state and status, whose reasons have the same cause.
public struct OperationGroup: Sendable, Hashable {
    /// Their state.
    public var state: OperationState
    /// The status of their last answer; nil if none came.
    public var status: Int?
    /// Their reason where all have the same, else what the reasons have in common (``Cause``).
    public var reason: String
    /// How many there are.
    public var count: Int
    /// When the oldest was accepted.
    public var since: Instant
    /// When the first request for one of them began; nil if there was none.
    public var firstTriedAt: Instant?
    /// When the latest request for one of them began; nil if there was none.
    public var lastTriedAt: Instant?
}
