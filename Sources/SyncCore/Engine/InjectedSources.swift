public import TablesProtocol

/// The wall time, and one that only goes forward, injected.
public protocol StoreClock: Sendable {
    /// The time now.
    func now() -> Instant
    /// The time since some moment of the past.
    func uptime() -> Duration
}

/// The time as the engine knows it: wall time for what is stored and shown, uptime for waiting, so
/// that a jump of the wall clock starts and delays nothing.
public protocol EngineClock: Sendable {
    /// The wall time.
    func now() -> Instant
    /// Time since some fixed point, never going back.
    func uptime() -> Duration
    /// Returns when ``uptime()`` has come to `deadline`, or early when the task is cancelled.
    func sleep(until deadline: Duration) async
}

/// Random numbers for jitter, injected so that a seed repeats a run.
public protocol RandomSource: Sendable {
    /// A number in `0..<bound`, each as likely; `bound` is positive.
    func next(below bound: UInt64) -> UInt64
}

/// Random numbers of the system.
public struct SystemRandom: RandomSource {
    /// Makes the source.
    public init() {}

    /// A number in `0..<bound`.
    public func next(below bound: UInt64) -> UInt64 { UInt64.random(in: 0..<max(bound, 1)) }
}

/// Random words for ids and versions, injected so that a seed repeats a run.
public protocol IDSource: Sendable {
    /// 64 random bits.
    func next() -> UInt64
}

extension IDSource {
    /// A UUID of version 7: the time in front keeps neighbours in the index together.
    func operationID(at time: Instant) -> OperationID {
        let high = UInt64(bitPattern: time.milliseconds) << 16 | 0x7000 | (next() & 0xFFF)
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return UUIDText.make(high, low)
    }

    /// A random id in the form that servers of the generation give.
    func itemID(for generation: Generation) -> ItemID {
        var words = Words(source: self)
        return ItemID.make(generation: generation, random: &words)
    }

    /// A provisional version: base64 of 16 random bytes.
    func version() -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for word in [next(), next()] {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return Base64.encoded(bytes)
    }
}

private struct Words: RandomNumberGenerator {
    let source: any IDSource
    mutating func next() -> UInt64 { source.next() }
}
