import Synchronization

/// Something that happens once and stays so.
public final class Switch: Sendable {
    private let state = Mutex(false)

    /// Off.
    public init() {}

    /// Whether it was turned on.
    public var isOn: Bool { state.withLock { $0 } }

    /// Turns it on.
    public func turnOn() { state.withLock { $0 = true } }
}

/// Counts from 1.
public final class Counter: Sendable {
    private let state = Mutex(0)

    /// At 0.
    public init() {}

    /// The next number.
    public func next() -> Int {
        state.withLock { count in
            count += 1
            return count
        }
    }
}
