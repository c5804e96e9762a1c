import Synchronization

/// A flag that is set once and stays set.
public final class Switch: Sendable {
    private let state = Mutex(false)

    /// Makes a flag that is not set.
    public init() {}

    /// Whether it was set.
    public var isOn: Bool { state.withLock { $0 } }

    /// Sets it.
    public func turnOn() { state.withLock { $0 = true } }
}

/// Counts from 1.
public final class Counter: Sendable {
    private let state = Mutex(0)

    /// Makes a counter whose first number is 1.
    public init() {}

    /// The next number.
    public func next() -> Int {
        state.withLock { count in
            count += 1
            return count
        }
    }
}
