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
    }

    private var entries: [Entry] = []
    private var isScheduled = false

    /// Whether anything waits.
    var isAwaited: Bool { !entries.isEmpty }

    /// Lets a write wait; the first one starts the committer.
    mutating func add(_ entry: Entry) -> Arrival {
        guard entry.isBookkeeping || entries.count < StoreLimits.waitingWrites else {
            return .refused
        }
        entries.append(entry)
        if isScheduled { return .joined }
        isScheduled = true
        return .first
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

    /// What has arrived since for a group of so many, as far as there is room in it.
    mutating func takeMore(for count: Int) -> [Entry] {
        take(atMost: StoreLimits.groupWrites - count)
    }

    private mutating func take(atMost count: Int) -> [Entry] {
        let taken = Array(entries.prefix(count))
        entries.removeFirst(taken.count)
        return taken
    }
}
