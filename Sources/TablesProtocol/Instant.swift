/// A point in time: ticks of 100 ns since 0001-01-01T00:00:00Z, from there to the end of year 9999.
public struct Instant: Sendable, Hashable, Comparable {
    /// Ticks of 100 ns since 0001-01-01T00:00:00Z.
    public let ticks: Int64

    /// The first instant of year 1.
    public static let earliest = Instant(ticks: 0)
    /// The last tick of year 9999.
    public static let latest = Instant(ticks: 3_155_378_975_999_999_999)

    static let ticksPerMillisecond: Int64 = 10_000
    static let ticksPerSecond: Int64 = 10_000_000
    static let ticksPerDay: Int64 = 864_000_000_000
    /// 1970-01-01T00:00:00Z in ticks.
    static let unixEpoch: Int64 = 621_355_968_000_000_000

    /// Takes ticks; those out of range become the nearest in range.
    public init(ticks: Int64) {
        self.ticks = min(max(ticks, 0), 3_155_378_975_999_999_999)
    }

    /// Takes milliseconds since 1970-01-01T00:00:00Z; those out of range become the nearest.
    public init(milliseconds: Int64) {
        let (product, isBig) = milliseconds.multipliedReportingOverflow(
            by: Self.ticksPerMillisecond)
        let (sum, isBigger) = product.addingReportingOverflow(Self.unixEpoch)
        let nearest = milliseconds < 0 ? Self.earliest.ticks : Self.latest.ticks
        self.init(ticks: isBig || isBigger ? nearest : sum)
    }

    /// Whole milliseconds since 1970-01-01T00:00:00Z, rounded down.
    public var milliseconds: Int64 {
        (ticks / Self.ticksPerMillisecond) - Self.unixEpoch / Self.ticksPerMillisecond
    }

    /// Earlier instants come first.
    public static func < (left: Instant, right: Instant) -> Bool { left.ticks < right.ticks }
}
