public import TablesProtocol

/// What an operation does to its item.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
    case insert, update, replace, delete, undelete
}

/// Where an operation stands. Each state says what may have happened upstream.
public enum OperationState: String, Sendable, Hashable, CaseIterable {
    /// Due, and nothing of it is on its way.
    case queued
    /// Being sent, or sent and not yet answered.
    case sending
    /// Will be tried again at its next attempt.
    case waiting
    /// Sent without a verdict; the row is read back before anything else happens.
    case unknown
    /// The backend's row and mine differ; a person or a policy decides.
    case conflict
    /// The backend refused it; a person decides.
    case quarantined
    /// The backend has it.
    case done
    /// A person or a policy gave it up.
    case discarded
    /// Merged into another operation, or without an effect that would have to be sent.
    case collapsed

    /// Whether it still waits for the backend or a person.
    public var isOpen: Bool {
        switch self {
        case .queued, .sending, .waiting, .unknown, .conflict, .quarantined: true
        case .done, .discarded, .collapsed: false
        }
    }

    /// The states that still wait for the backend or a person.
    public static let open = Set(allCases.filter(\.isOpen))
    /// The open states in which a person decides.
    public static let waitsForPerson: Set<OperationState> = [.conflict, .quarantined]
    /// The open states that wait for the backend.
    public static let waitsForBackend = open.subtracting(waitsForPerson)
}

/// The identity of an operation: a UUID as text, also sent as `Idempotency-Key`.
public typealias OperationID = String

/// One operation as a list shows it.
public struct OperationSummary: Sendable, Hashable {
    /// Its identity.
    public var id: OperationID
    /// Whose credential it is sent with.
    public var identity: String
    /// Its place in the order; never used twice.
    public var seq: Int64
    /// The table as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// What it does.
    public var kind: OperationKind
    /// Where it stands.
    public var state: OperationState
    /// Why it stands there, in plain words.
    public var reason: String?
    /// Grows with every change of the operation; actions name it.
    public var revision: Int
    /// How many requests were made for it.
    public var attempts: Int
    /// Whether a request without a verdict may have taken effect.
    public var maybeApplied: Bool
    /// When the write was accepted.
    public var createdAt: Instant
    /// When its first request began; nil before.
    public var firstAttemptAt: Instant?
    /// When its latest request began; nil before the first.
    public var lastAttemptAt: Instant?
    /// When it is due again; nil when it is due now or waits for something else than time.
    public var nextAttemptAt: Instant?
    /// When it was closed; nil while it is open.
    public var closedAt: Instant?
    /// The status of the last attempt; nil when no answer came.
    public var lastStatus: Int?
    /// What went wrong in the last attempt, in plain words.
    public var lastError: String?
    /// The user's columns that it changes.
    public var changedColumns: [String]
    /// A short text of the item for a person.
    public var title: String?
}

/// One operation with everything known of it.
public struct OperationDetail: Sendable, Hashable {
    /// What the list shows.
    public var summary: OperationSummary
    /// What is or will be sent.
    public var payload: JSONText?
    /// The row that the change started from.
    public var base: JSONText?
    /// The local row; nil when it is deleted here.
    public var mine: JSONText?
    /// The backend's last known row; nil when it has none or that is not known.
    public var server: JSONText?
    /// The header fields of its client that are sent with it, `Name: value`; of one that may sign in the
    /// name alone.
    public var headers: [String]
    /// Every request made for it, oldest first.
    public var attemptLog: [AttemptRecord]
}

/// Operations that are in one state for one reason.
public struct OperationGroup: Sendable, Hashable {
    /// Where they are.
    public var state: OperationState
    /// Why, in plain words.
    public var reason: String
    /// How many.
    public var count: Int
    /// When the oldest was accepted.
    public var since: Instant
}
