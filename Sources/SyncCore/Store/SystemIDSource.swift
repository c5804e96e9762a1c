/// Random words of the system.
public struct SystemIDSource: IDSource {
    /// Makes the source.
    public init() {}

    /// 64 random bits.
    public func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}
