import Synchronization
import TablesProtocol

/// The backend's one source of randomness, for ids, versions and faults.
final class SharedRandom: Sendable {
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    init(_ generator: any RandomNumberGenerator & Sendable) {
        self.generator = Mutex(generator)
    }

    /// A new id in the form that servers of the generation give.
    func id(_ generation: Generation) -> String {
        var source = Source(shared: self)
        return ItemID.make(generation: generation, random: &source).text
    }

    /// Random bytes.
    func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// True with this probability.
    func happens(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    private func next() -> UInt64 { generator.withLock { $0.next() } }

    private struct Source: RandomNumberGenerator {
        let shared: SharedRandom
        mutating func next() -> UInt64 { shared.next() }
    }
}
