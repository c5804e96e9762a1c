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
