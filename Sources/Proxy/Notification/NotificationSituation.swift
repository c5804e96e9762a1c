import SyncCore
import TablesProtocol

/// The present state, as far as somebody may have to be told of it.
struct NotificationSituation: Sendable, Hashable {
    var at: Instant
    var identities: Set<String>
    /// The operations that wait for a person, by identity, the oldest first. An identity whose store could not
    /// be read is missing.
    var decisions: [String: [OpenDecision]] = [:]
    /// What is known of conditions. One that is not known now is missing.
    var findings: [Condition: Finding] = [:]
    /// How many operations are in conflict, of all identities.
    var conflicts = 0
    /// How many operations are refused, of all identities.
    var refused = 0

    /// Whether a condition holds.
    enum Finding: Sendable, Hashable {
        /// It holds, for these operations if it is about some.
        case holds([LongWait] = [])
        case isOver
    }
}

/// Something that begins, lasts, and is over.
enum Condition: Sendable, Hashable {
    /// The backend cannot be used.
    case backendAway
    /// Operations of an identity have waited for ``Limits/stuckSeconds``, and the backend answers.
    case changesWait(String)
    /// Operations of an identity wait for its sign-in.
    case signInNeeded(String)
    /// The disk has less than ``Limits/freeBytesLow`` free.
    case diskAlmostFull
    /// A store has used ``Limits/budgetShareHigh`` of its disk budget.
    case budgetAlmostUsed(String)
    /// A store takes no write: the disk is full, the budget is used up, the file is read-only.
    case storeNotWritable(String)

    /// Its stable word in messages and in the file.
    var word: String {
        switch self {
        case .backendAway: "backend-away"
        case .changesWait: "changes-wait"
        case .signInNeeded: "sign-in-needed"
        case .diskAlmostFull: "disk-almost-full"
        case .budgetAlmostUsed: "budget-almost-used"
        case .storeNotWritable: "store-not-writable"
        }
    }

    /// Whose it is; nil for all.
    var identity: String? {
        switch self {
        case .backendAway, .diskAlmostFull: nil
        case .changesWait(let identity), .signInNeeded(let identity),
            .budgetAlmostUsed(let identity), .storeNotWritable(let identity):
            identity
        }
    }

    /// The condition of a word; nil for another word.
    init?(word: String, identity: String?) {
        let one = identity ?? ""
        let all: [Condition] = [
            .backendAway, .changesWait(one), .signInNeeded(one), .diskAlmostFull,
            .budgetAlmostUsed(one), .storeNotWritable(one),
        ]
        guard let found = all.first(where: { $0.word == word }),
            (found.identity == nil) == (identity == nil)
        else { return nil }
        self = found
    }

    var event: NotifiedEvent {
        switch self {
        case .backendAway, .changesWait: .stuck
        case .signInNeeded: .signedOut
        case .diskAlmostFull, .budgetAlmostUsed, .storeNotWritable: .disk
        }
    }

    /// Seconds for which it has to hold before it is told.
    var patienceSeconds: Int64 {
        switch self {
        case .backendAway: Limits.backendAwaySeconds
        case .changesWait: Limits.backendAnswersSeconds
        case .signInNeeded: Limits.signInNeededSeconds
        case .diskAlmostFull, .budgetAlmostUsed, .storeNotWritable: 0
        }
    }

    /// A sentence without an end while it holds.
    var sentence: String {
        switch self {
        case .backendAway: "The backend cannot be used"
        case .changesWait(let identity):
            "Changes of \(identity) wait although the backend answers"
        case .signInNeeded(let identity): "Changes of \(identity) wait for a sign-in"
        case .diskAlmostFull: "The disk is almost full"
        case .budgetAlmostUsed(let identity): "The disk budget of \(identity) is almost used up"
        case .storeNotWritable(let identity): "The store of \(identity) takes no writes"
        }
    }

    /// The sentence when it is over.
    var endSentence: String {
        switch self {
        case .backendAway: "The backend answers again"
        case .changesWait(let identity): "No change of \(identity) has waited for long any more"
        case .signInNeeded(let identity): "No change of \(identity) waits for a sign-in any more"
        case .diskAlmostFull: "The disk has room again"
        case .budgetAlmostUsed(let identity): "The disk budget of \(identity) has room again"
        case .storeNotWritable(let identity): "The store of \(identity) takes writes again"
        }
    }
}
