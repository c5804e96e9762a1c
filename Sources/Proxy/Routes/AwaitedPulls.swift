import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

// Which reads wait for a pull of their table. docs/PROTOCOL.md says what a client sees of it.

/// The lists that clients have asked for of late, so that the same list from the same client is known again: a person
/// pulls to refresh, or a program looks for what it has not seen. One list may push another one out. It has no lock,
/// and a client that asks without a pause rarely writes.
final class RepeatedLists: Sendable {
    private final class Slot: Sendable {
        let hash = Atomic<Int>(0)
        /// The uptime of the last such list in milliseconds, below zero if it was a repeated one.
        let time = Atomic<Int64>(0)
    }

    private let slots = (0..<Limits.repeatedLists).map { _ in Slot() }

    /// Notes a list of a client.
    /// - Returns: since when a pull must have begun that it waits for; nil if it waits for none.
    func note(_ hash: Int, now: Duration) -> Duration? {
        let slot = slots[Int(UInt(bitPattern: hash) % UInt(slots.count))]
        let before =
            slot.hash.load(ordering: .relaxed) == hash ? slot.time.load(ordering: .relaxed) : 0
        let (time, next) = Self.awaitedPull(before: before, now: now)
        if before == 0 { slot.hash.store(hash, ordering: .relaxed) }
        if next != before { slot.time.store(next, ordering: .relaxed) }
        return time
    }

    /// Since when a pull must have begun that a list of a complete table waits for; nil for any other read.
    func awaitedPull(of request: TableRequest, now: Duration) -> Duration? {
        guard case .list(let query) = request.call.verb, !query.isContinued, request.pairs == nil
        else { return nil }
        if query.isPull { return now }
        var hasher = Hasher()
        hasher.combine(request.tenant.identity)
        hasher.combine(request.actor)
        hasher.combine(request.fields[.userAgent])
        hasher.combine(request.fields[.zumoInstallation])
        hasher.combine(request.call.table)
        hasher.combine(query)
        return note(hasher.finalize(), now: now)
    }

    /// Decides for a list that was noted at a time, 0 for never. A repeated list waits for a pull. A client that asks
    /// again within a second after that polls, and waits for no pull. Pure.
    /// - Returns: since when the awaited pull must have begun, and what is noted now.
    static func awaitedPull(before: Int64, now: Duration) -> (since: Duration?, noted: Int64) {
        let milliseconds = max(now.wholeMilliseconds, 1)
        let age = milliseconds - abs(before)
        if before == 0 || age >= Limits.repeatedListMilliseconds { return (nil, milliseconds) }
        let isPolling = before < 0 && age < Limits.pollMilliseconds
        let isNoted = before < 0 && age < Limits.notedMilliseconds
        return (isPolling ? nil : now, isNoted ? before : -milliseconds)
    }
}

/// The tables that the clients of an identity have used of late, and its last call of a custom API, which may have
/// changed their rows.
final class TableUse: Sendable {
    private let tables = Mutex<[TableName: Duration]>([:])
    /// Since when the pulls after that call must have begun, as uptime in milliseconds; 0 once they are over.
    private let awaited = Atomic<Int64>(0)

    func note(_ table: TableName, now: Duration) {
        tables.withLock { tables in
            tables[table] = now
            guard tables.count > Limits.usedTables else { return }
            if let oldest = tables.min(by: { $0.value < $1.value })?.key { tables[oldest] = nil }
        }
    }

    /// The tables, the latest first.
    func used(now: Duration) -> [TableName] {
        tables.withLock { $0 }.filter { now - $0.value < .seconds(Limits.tableUseSeconds) }
            .sorted { $0.value > $1.value }.map(\.key)
    }

    /// Lets reads wait for pulls that begin from now on, until ``endWait(_:)`` gets the result.
    func beginWait(now: Duration) -> Duration {
        let since = now.wholeMilliseconds + 1
        awaited.store(since, ordering: .releasing)
        return .milliseconds(since)
    }

    /// Ends the wait, unless a later call has begun another.
    func endWait(_ since: Duration) {
        _ = awaited.compareExchange(
            expected: since.wholeMilliseconds, desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Since when a pull must have begun that a read waits for, and for how many seconds; nil if it waits for none.
    func awaitedPull(now: Duration) -> (since: Duration, seconds: Int)? {
        let since = awaited.load(ordering: .acquiring)
        let left = Limits.apiWaitMilliseconds - (now.wholeMilliseconds - since)
        return since != 0 && left > 0 ? (.milliseconds(since), Int(left / 1000) + 1) : nil
    }
}
