/// What a bulk action did to one part of the operations that match.
public struct BulkPart: Sendable, Hashable {
    /// The operations that it was done to.
    public var done: [OperationID]
    /// How many it could not be done to.
    public var refused: Int
    /// What to pass as `after` for the next part; nil at the end. Opaque.
    public var next: String?
}
