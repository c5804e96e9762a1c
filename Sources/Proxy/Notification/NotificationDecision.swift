import SyncCore
import TablesProtocol

/// What earlier messages told, and which conditions hold.
struct NotificationMemory: Sendable, Hashable {
    /// The operations that were told, by identity.
    var told: [String: ToldOperations] = [:]
    /// The conditions that held when they were last looked at.
    var standing: [Condition: Standing] = [:]

    struct ToldOperations: Sendable, Hashable {
        /// The `seq` of each.
        var seqs: Set<Int64>
        /// No request for one of them began later. An operation with a later one was sent again since, so it
        /// waits anew.
        var at: Instant
    }

    /// A condition that holds.
    struct Standing: Sendable, Hashable {
        /// When it was first seen.
        var since: Instant
        /// When it was last told; nil before the first time.
        var toldAt: Instant?
    }
}

struct NotificationNews: Sendable, Hashable {
    /// The operations that are new, grouped; at most ``Limits/toldGroups``, the largest group first.
    var groups: [Group] = []
    /// How many new operations are in no group, since there were too many groups.
    var ungrouped = 0
    /// How many operations are new, by event.
    var counts: [NotifiedEvent: Int] = [:]
    /// What began, lasts or is over; at most ``Limits/toldConditions``.
    var conditions: [ToldCondition] = []

    var isEmpty: Bool { counts.isEmpty && conditions.isEmpty }

    /// New operations of one table of one identity.
    struct Group: Sendable, Hashable {
        let event: NotifiedEvent
        let identity: String
        let table: String
        var count: Int
        /// The oldest of them, at most ``Limits/toldItems``.
        var first: [OpenDecision]
    }

    struct ToldCondition: Sendable, Hashable {
        let condition: Condition
        let phase: Phase
        let since: Instant
        var waits: [LongWait] = []

        /// What became of it. The raw value is its word in messages.
        enum Phase: String, Sendable, Hashable {
            case began, lasts, over
        }
    }
}

/// When the next message may be sent.
struct NotificationPace: Sendable, Hashable {
    /// When a message was last sent or failed to be sent; nil before the first.
    var lastTryAt: Instant?
    /// How often the sending has failed in a row.
    var failures = 0

    /// Seconds from the last try to the next: a minute, twice as long after each failure, at most
    /// ``Limits/notificationRetrySeconds``.
    var restSeconds: Int64 {
        let doublings = min(max(failures - 1, 0), 10)
        return min(Limits.notificationSeconds << doublings, Limits.notificationRetrySeconds)
    }

    /// When the next one may be sent; nil for now.
    func next(now: Instant) -> Instant? {
        guard let lastTryAt, lastTryAt <= now else { return nil }
        let next = lastTryAt.adding(seconds: restSeconds)
        return next <= now ? nil : next
    }
}

/// What is told now, and what is remembered of it.
struct NotificationDecision: Sendable, Hashable {
    /// The message; nil while there is nothing to tell, or it is too early.
    var message: NotificationNews?
    /// What there is to tell, whether it is told now or not.
    var news = NotificationNews()
    /// What is remembered if no message is sent, or its sending fails.
    var seen: NotificationMemory
    /// What is remembered once the message was delivered.
    var told: NotificationMemory

    /// Decides what is told of a situation.
    ///
    /// 1. An operation that waits for a person is told once. One that was decided before is not told.
    /// 2. A condition is told when it has held for its patience, then once a day, and when it is over.
    /// 3. What is not known now keeps what was told of it. A condition that was not told begins anew.
    /// 4. What does not fit into a message is either counted in it, or waits for the next one.
    /// - Parameters:
    ///   - now: the present state.
    ///   - memory: what was told.
    ///   - events: what is to be told.
    ///   - pace: the last try.
    init(
        _ now: NotificationSituation, _ memory: NotificationMemory, events: Set<NotifiedEvent>,
        pace: NotificationPace
    ) {
        seen = memory
        seen.told = memory.told.filter { now.identities.contains($0.key) }
        told = seen
        decideOperations(now, events)
        decideConditions(now, memory, events)
        if !news.isEmpty, pace.next(now: now.at) == nil { message = news }
    }

    private mutating func decideOperations(
        _ now: NotificationSituation, _ events: Set<NotifiedEvent>
    ) {
        var groups: [NotificationNews.Group] = []
        for identity in now.decisions.keys.sorted() {
            let open = (now.decisions[identity] ?? []).filter { events.contains($0.event) }
            let before = seen.told[identity]
            var places: [[String]: Int] = [:]
            for operation in open where before?.has(operation) != true {
                news.counts[operation.event, default: 0] += 1
                let key = [operation.event.rawValue, operation.table]
                if let place = places[key] {
                    groups[place].count += 1
                    if groups[place].first.count < Limits.toldItems {
                        groups[place].first.append(operation)
                    }
                } else {
                    places[key] = groups.count
                    groups.append(
                        .init(
                            event: operation.event, identity: identity, table: operation.table,
                            count: 1, first: [operation]))
                }
            }
            // A clock that was set back must not make all of them new.
            let latest = ([now.at] + open.compactMap(\.lastAttemptAt)).max() ?? now.at
            told.told[identity] =
                open.isEmpty ? nil : .init(seqs: Set(open.map(\.seq)), at: latest)
        }
        let sorted = groups.enumerated().sorted {
            ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
        }.map(\.element)
        news.groups = Array(sorted.prefix(Limits.toldGroups))
        news.ungrouped = sorted.dropFirst(Limits.toldGroups).reduce(0) { $0 + $1.count }
    }

    private mutating func decideConditions(
        _ now: NotificationSituation, _ memory: NotificationMemory, _ events: Set<NotifiedEvent>
    ) {
        seen.standing = [:]
        var changes: [(told: NotificationNews.ToldCondition, after: NotificationMemory.Standing?)] =
            []
        let known = Set(memory.standing.keys).union(now.findings.keys)
        for condition in known.sorted(by: { $0.sortKey < $1.sortKey }) {
            guard events.contains(condition.event),
                condition.identity.map(now.identities.contains) ?? true
            else { continue }
            let before = memory.standing[condition]
            switch now.findings[condition] {
            case nil: if before?.toldAt != nil { seen.standing[condition] = before }
            case .isOver:
                guard let before, before.toldAt != nil else { continue }
                seen.standing[condition] = before
                changes.append(
                    (.init(condition: condition, phase: .over, since: before.since), nil))
            case .holds(let waits):
                // After the clock was set back, times in the future would delay what is told.
                let since = min(before?.since ?? now.at, now.at)
                let toldAt = before?.toldAt.map { min($0, now.at) }
                let standing = NotificationMemory.Standing(since: since, toldAt: toldAt)
                seen.standing[condition] = standing
                let due =
                    toldAt?.adding(seconds: Limits.standingConditionSeconds)
                    ?? since.adding(seconds: condition.patienceSeconds)
                guard due <= now.at else { continue }
                changes.append(
                    (
                        .init(
                            condition: condition, phase: toldAt == nil ? .began : .lasts,
                            since: since, waits: waits),
                        .init(since: since, toldAt: now.at)
                    ))
            }
        }
        told.standing = seen.standing
        for change in changes.prefix(Limits.toldConditions) {
            news.conditions.append(change.told)
            told.standing[change.told.condition] = change.after
        }
    }
}

extension NotificationMemory.ToldOperations {
    /// Whether an operation was told since it came to wait.
    func has(_ operation: OpenDecision) -> Bool {
        seqs.contains(operation.seq) && operation.lastAttemptAt.map { $0 <= at } ?? true
    }
}

extension OpenDecision {
    var event: NotifiedEvent { isConflict ? .conflict : .refused }
}

extension Condition {
    /// The order in which conditions are told.
    fileprivate var sortKey: (Int, String) {
        let order =
            switch self {
            case .storeNotWritable: 0
            case .diskAlmostFull: 1
            case .budgetAlmostUsed: 2
            case .backendAway: 3
            case .changesWait: 4
            case .signInNeeded: 5
            }
        return (order, identity ?? "")
    }
}

/// The present state, as far as a person may have to be told of it.
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
