package import TablesProtocol

/// How long a backend keeps what only the past needs.
public struct KeptTimes: Sendable, Hashable {
    /// Seconds for which the log of effects is kept; nil for ever.
    public var effectSeconds: Int64?
    /// Seconds for which a tombstone is kept after its `updatedAt`; nil for ever.
    public var tombstoneSeconds: Int64?

    /// Keeps effects and tombstones for so long; nil for ever.
    public init(effectSeconds: Int64? = nil, tombstoneSeconds: Int64? = nil) {
        (self.effectSeconds, self.tombstoneSeconds) = (effectSeconds, tombstoneSeconds)
    }

    /// Whether nothing is ever removed.
    public var keepsAll: Bool { effectSeconds == nil && tombstoneSeconds == nil }

    /// What is no longer kept at a moment.
    func expiry(at now: Instant) -> Expiry {
        let before = { (seconds: Int64?) in
            seconds.map { Instant(milliseconds: now.milliseconds - $0 * 1000) }
        }
        return Expiry(
            effectsBefore: before(effectSeconds), tombstonesBefore: before(tombstoneSeconds))
    }
}

/// What is no longer kept: what is older than these moments. Nil keeps all.
package struct Expiry: Sendable, Hashable {
    package var effectsBefore: Instant?
    package var tombstonesBefore: Instant?

    package init(effectsBefore: Instant? = nil, tombstonesBefore: Instant? = nil) {
        (self.effectsBefore, self.tombstonesBefore) = (effectsBefore, tombstonesBefore)
    }
}

/// How many effects and tombstones were removed.
package struct Expired: Sendable, Hashable {
    package var effects = 0
    package var tombstones = 0

    package init(effects: Int = 0, tombstones: Int = 0) {
        (self.effects, self.tombstones) = (effects, tombstones)
    }
}

/// The times of the oldest effect and of the oldest tombstone of all tables; nil where there is none.
package struct OldestKept: Sendable, Hashable {
    package var effect: Instant?
    package var tombstone: Instant?

    package init(effect: Instant? = nil, tombstone: Instant? = nil) {
        (self.effect, self.tombstone) = (effect, tombstone)
    }
}

/// What a table no longer has of its past.
package struct ForgottenPast: Sendable, Hashable {
    /// The time of the first effect that was removed; nil where none was.
    package var firstEffect: Instant?
    /// The latest time of a deletion that left no row, and whose effect was removed.
    package var lastDeletion: Instant?
    /// The latest `updatedAt` of a tombstone that was removed.
    package var lastTombstone: Instant?

    package init(
        firstEffect: Instant? = nil, lastDeletion: Instant? = nil, lastTombstone: Instant? = nil
    ) {
        self.firstEffect = firstEffect
        self.lastDeletion = lastDeletion
        self.lastTombstone = lastTombstone
    }

    /// When a row that a client inserted here may have been changed, and is deleted without a trace by now: from
    /// the first write on, since before that no client had a row of the table from here.
    package var rowsWithoutTrace: ClosedRange<Instant>? {
        guard let firstEffect,
            let last = [lastDeletion, lastTombstone].compactMap(\.self).max()
        else { return nil }
        // Rows have times in whole milliseconds.
        let first = Instant(milliseconds: firstEffect.milliseconds)
        return first <= last ? first...last : nil
    }
}
