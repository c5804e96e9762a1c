extension Duration {
    /// The duration in whole milliseconds; a part of one is left out.
    public var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
