import Dispatch

/// Writes that wait for the next group: those of clients, and what the engine books of one operation.
struct WaitingWrites {
    /// One write and who waits for it.
    struct Entry: Sendable {
        /// What a write came to, before its commit.
        struct Made: Sendable {
            /// False when what it wrote has to be rolled back.
            var isKept: Bool
            /// Tells who waits, once the group is on disk.
            var answer: @Sendable () -> Void
        }

        /// Whether it is bookkeeping of the engine, which is never refused for want of room.
        let isBookkeeping: Bool
        /// Whether its answer is more than to wake a task.
        let takesTime: Bool
        /// Makes the write in the group's transaction; runs again when the group has to.
        let make: @Sendable (Transaction) throws -> Made
        /// Tells who waits that nothing was written.
        let fail: @Sendable (StoreError) -> Void
    }

    /// What becomes of a write that arrives.
    enum Arrival {
        case refused, joined
        /// The first one, which starts the committer.
        case first
        /// The one that the committer waits for.
        case awaited
    }

    /// What there is for a group that is being made.
    enum More {
        case joined([Entry])
        /// Clients will be back before that.
        case awaits(until: DispatchTime)
        case nobody
    }

    private var entries: [Entry] = []
    private var isScheduled = false
    /// Clients whom the last commit answered, and who have not written again.
    private var answered = 0
    /// When they were, and how many nanoseconds that commit took.
    private var answeredAt = DispatchTime(uptimeNanoseconds: 0)
    private var commitLength = 0
    /// The committer waits for the next arrival.
    private var isGathering = false

    /// Whether anything waits.
    var isAwaited: Bool { !entries.isEmpty }

    /// Lets a write wait; the first one starts the committer.
    mutating func add(_ entry: Entry) -> Arrival {
        guard entry.isBookkeeping || entries.count < StoreLimits.waitingWrites else {
            return .refused
        }
        entries.append(entry)
        if entry.takesTime, answered > 0 { answered -= 1 }
        guard isScheduled else {
            isScheduled = true
            return .first
        }
        guard isGathering else { return .joined }
        isGathering = false
        return .awaited
    }

    /// Notes how many clients are now told of a commit that began then.
    ///
    /// Who sends one write after the other is back with the next one soon. A group waits for the next
    /// of them as long as that costs less than a commit of its own would: a part of a commit's time for
    /// each arrival, and a commit's time in all.
    mutating func expect(_ clients: Int, committedSince begin: DispatchTime, now: DispatchTime) {
        (answered, answeredAt) = (clients, now)
        commitLength = Int(now.uptimeNanoseconds - begin.uptimeNanoseconds)
    }

    /// The next group, in the order of arrival; empty when nothing waits, and the next arrival
    /// starts the committer again.
    mutating func takeGroup() -> [Entry] {
        let group = take(atMost: StoreLimits.groupWrites)
        if group.isEmpty { isScheduled = false }
        return group
    }

    /// Those who wait, for a transaction that takes them along. The committer stays in the queue.
    mutating func takeAlong() -> [Entry] { take(atMost: StoreLimits.groupWrites) }

    /// Lets those wait again who were taken along and not committed, before who came after them.
    mutating func putBack(_ group: [Entry]) { entries = group + entries }

    /// What has arrived since for a group of so many, as far as there is room in it. Where clients are
    /// still to come back, whoever asks waits for the next arrival or calls ``stopGathering()``.
    mutating func takeMore(for count: Int, now: DispatchTime) -> More {
        let taken = take(atMost: StoreLimits.groupWrites - count)
        guard taken.isEmpty else { return .joined(taken) }
        let end = answeredAt + .nanoseconds(commitLength)
        guard count < StoreLimits.groupWrites, answered > 0, now < end else { return .nobody }
        isGathering = true
        return .awaits(
            until: min(end, now + .nanoseconds(commitLength / StoreLimits.gatheringsInCommit)))
    }

    /// Whether nobody came whom the committer waited for.
    mutating func stopGathering() -> Bool {
        defer { isGathering = false }
        return isGathering
    }

    private mutating func take(atMost count: Int) -> [Entry] {
        let taken = Array(entries.prefix(count))
        entries.removeFirst(taken.count)
        return taken
    }
}
