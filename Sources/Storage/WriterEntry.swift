/// One write of a group, and its caller.
package struct WriterEntry<Unit>: Sendable {
    /// The result of a write, before its commit.
    package struct Made: Sendable {
        /// False when its writes have to be rolled back.
        let isKept: Bool
        /// Tells the caller, once the group is on disk.
        let answer: @Sendable () -> Void

        package init(isKept: Bool, answer: @escaping @Sendable () -> Void) {
            self.isKept = isKept
            self.answer = answer
        }
    }

    /// Whether it has to be written even when the budget is used up or many entries wait.
    let isNeverRefused: Bool
    /// Whether its answer is more than to wake a task.
    let takesTime: Bool
    /// Makes the write in the group's transaction; runs again when the group has to.
    let make: @Sendable (Unit) throws -> Made
    /// Tells the caller that nothing was written.
    let fail: @Sendable (StorageError) -> Void

    package init(
        isNeverRefused: Bool, takesTime: Bool,
        make: @escaping @Sendable (Unit) throws -> Made,
        fail: @escaping @Sendable (StorageError) -> Void
    ) {
        self.isNeverRefused = isNeverRefused
        self.takesTime = takesTime
        self.make = make
        self.fail = fail
    }
}

/// Entries that wait for the next group.
struct WaitingEntries<Unit> {
    typealias Entry = WriterEntry<Unit>

    /// The result of the arrival of an entry.
    enum Arrival {
        case refused, joined
        /// The first one, which starts the committer.
        case first
    }

    private var entries: [Entry] = []
    private var isScheduled = false

    /// Whether anything waits.
    var isAwaited: Bool { !entries.isEmpty }

    /// Lets an entry wait; the first one starts the committer.
    mutating func add(_ entry: Entry) -> Arrival {
        guard entry.isNeverRefused || entries.count < StorageLimits.waitingEntries else {
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
        let group = take(atMost: StorageLimits.groupEntries)
        if group.isEmpty { isScheduled = false }
        return group
    }

    /// Those that wait, for a transaction that takes them along. The committer stays in the queue.
    mutating func takeAlong() -> [Entry] { take(atMost: StorageLimits.groupEntries) }

    /// Lets those wait again that were taken along and not committed, before those that came after them.
    mutating func putBack(_ group: [Entry]) { entries = group + entries }

    /// The entries that have arrived since, as many as a group of `count` entries may still take.
    mutating func takeMore(for count: Int) -> [Entry] {
        take(atMost: StorageLimits.groupEntries - count)
    }

    private mutating func take(atMost count: Int) -> [Entry] {
        let taken = Array(entries.prefix(count))
        entries.removeFirst(taken.count)
        return taken
    }
}
