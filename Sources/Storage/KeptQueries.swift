import Synchronization

/// The queries of callers that stay prepared on a connection. Their texts may differ without end, so only
/// the first ones are kept.
final class KeptQueries: Sendable {
    private let texts = Mutex<Set<String>>([])

    /// Whether a query stays prepared.
    func admit(_ text: String) -> Bool {
        texts.withLock { texts in
            if texts.contains(text) { return true }
            guard texts.count < StorageLimits.keptQueries else { return false }
            texts.insert(text)
            return true
        }
    }
}
