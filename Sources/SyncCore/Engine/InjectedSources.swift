import Glibc
import Synchronization
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

/// Random words of the system, many at a time: a write takes six, and a call into the kernel costs as
/// much as a dozen words do.
public final class SystemIDSource: IDSource {
    private let words = Mutex<[UInt64]>([])

    public init() {}

    /// 64 random bits.
    public func next() -> UInt64 {
        words.withLock { words in
            if words.isEmpty { words = Self.fetch() }
            return words.removeLast()
        }
    }

    private static func fetch() -> [UInt64] {
        var words = [UInt64](repeating: 0, count: StoreLimits.randomWords)
        // Sound: no more is written than the bytes that are given, which live through the call.
        let result = unsafe words.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe getentropy($0, bytes.count) }
        }
        if result == 0 { return words }
        // An old kernel, or one that may not be asked so: word by word, as the standard library can.
        return words.map { _ in UInt64.random(in: .min ... .max) }
    }
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
