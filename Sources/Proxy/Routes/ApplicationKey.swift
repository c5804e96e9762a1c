import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// The application key for a first generation backend: the configured one, otherwise the one that a client
/// sends. It is in memory only.
final class ApplicationKey: Sendable {
    private let configured: String?
    private let learned = Mutex<String?>(nil)

    /// - Parameter configured: the operator's key, which clients' keys do not replace; nil for none.
    init(configured: String?) {
        self.configured = configured
    }

    /// The key; nil while none is known.
    var text: String? { configured ?? learned.withLock { $0 } }

    /// Sets the key from the fields of a client's request.
    /// - Parameter isRefused: whether the backend refuses the known key; otherwise a known key stays.
    /// - Returns: whether the key has changed.
    func learn(_ fields: HTTPFields, isRefused: Bool) -> Bool {
        guard configured == nil, let key = fields[.zumoApplication], !key.isEmpty else {
            return false
        }
        return learned.withLock { learned in
            guard learned == nil || (isRefused && learned != key) else { return false }
            learned = key
            return true
        }
    }
}
