/// Local writes that wait for the next group.
struct WaitingWrites {
    /// One write and who waits for it.
    struct Entry: Sendable {
        let write: LocalWrite
        let completion: @Sendable (WriteOutcome) -> Void
    }

    /// What becomes of a write that arrives.
    enum Arrival { case refused, joined, first }

    private var entries: [Entry] = []
    private var isScheduled = false

    /// Lets a write wait; the first one starts the committer.
    mutating func add(_ entry: Entry) -> Arrival {
        guard entries.count < StoreLimits.waitingWrites else { return .refused }
        entries.append(entry)
        if isScheduled { return .joined }
        isScheduled = true
        return .first
    }

    /// The next group, in the order of arrival; empty when nothing waits, and the next arrival
    /// starts the committer again.
    mutating func takeGroup() -> [Entry] {
        let group = Array(entries.prefix(StoreLimits.groupWrites))
        entries.removeFirst(group.count)
        if group.isEmpty { isScheduled = false }
        return group
    }
}
