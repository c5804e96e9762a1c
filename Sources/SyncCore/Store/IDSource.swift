/// Random words for ids and versions, injected so that a seed repeats a run.
public protocol IDSource: Sendable {
    /// 64 random bits.
    func next() -> UInt64
}

/// Random words of the system.
public struct SystemIDSource: IDSource {
    /// Makes the source.
    public init() {}

    /// 64 random bits.
    public func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}
