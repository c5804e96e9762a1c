public import SyncCore
import Synchronization

/// Random numbers from a seed (SplitMix64), for jitter, ids and faults.
public final class SeededRandom: RandomSource, IDSource, RandomNumberGenerator {
    private let state: Mutex<UInt64>

    /// Makes the generator of a seed.
    public init(_ seed: UInt64) { state = Mutex(seed) }

    /// The next 64 bits.
    public func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    /// A number in `0..<bound`.
    public func next(below bound: UInt64) -> UInt64 { next() % max(bound, 1) }

    /// True with this probability, 0 to 1.
    public func happens(_ probability: Double) -> Bool {
        Double(next(below: 1 << 53)) < probability * Double(1 << 53)
    }

    /// A random element.
    public func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next(below: UInt64(elements.count)))]
    }
}
