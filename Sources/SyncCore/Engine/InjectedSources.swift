public import TablesProtocol

/// The wall clock and a monotonic clock, injected.
public protocol StoreClock: Sendable {
    func now() -> Instant
    /// The time since a fixed point in the past; it never goes back.
    func uptime() -> Duration
}

/// The clocks of the engine: wall time for what is stored and shown, uptime for waiting. So a jump of the
/// wall clock neither starts nor delays anything.
public protocol EngineClock: StoreClock {
    /// Returns when ``StoreClock/uptime()`` reaches `deadline`, or early if the task is cancelled.
    func sleep(until deadline: Duration) async
}

/// Random numbers for jitter, injected so that a seed repeats a simulation run.
public protocol RandomSource: Sendable {
    /// A number in `0..<bound`, uniformly distributed; `bound` is positive.
    func next(below bound: UInt64) -> UInt64
}

public struct SystemRandom: RandomSource {
    public init() {}

    /// A number in `0..<bound`, uniformly distributed.
    public func next(below bound: UInt64) -> UInt64 { UInt64.random(in: 0..<max(bound, 1)) }
}

/// Random bits for ids and versions, injected so that a seed repeats a simulation run.
public protocol IDSource: Sendable {
    /// 64 random bits.
    func next() -> UInt64
}

extension IDSource {
    /// A UUID of version 7: its leading time keeps successive ids together in the index.
    func operationID(at time: Instant) -> OperationID {
        let high = UInt64(bitPattern: time.milliseconds) << 16 | 0x7000 | (next() & 0xFFF)
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return UUIDText.make(high, low)
    }

    /// A random id in the form that servers of the generation use.
    func itemID(for generation: Generation) -> ItemID {
        var words = RandomWords(source: self)
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

private struct RandomWords: RandomNumberGenerator {
    let source: any IDSource
    mutating func next() -> UInt64 { source.next() }
}
