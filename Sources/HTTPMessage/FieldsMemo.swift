import Synchronization

/// Room for what a handler has found out from a request's method, header fields and connection alone.
///
/// The server gives the same one to requests of a connection that follow each other with the same
/// method and, byte for byte, the same header fields. Only what cannot change meanwhile may be kept.
public final class FieldsMemo: Sendable {
    private let kept = Mutex<(any AnyObject & Sendable)?>(nil)

    /// An empty memo.
    public init() {}

    /// What was kept last, if it is of this type.
    public func value<Kept: AnyObject & Sendable>(_ type: Kept.Type = Kept.self) -> Kept? {
        kept.withLock { $0 as? Kept }
    }

    /// Keeps something in the place of what was kept before.
    public func keep(_ value: some AnyObject & Sendable) {
        kept.withLock { $0 = value }
    }
}
