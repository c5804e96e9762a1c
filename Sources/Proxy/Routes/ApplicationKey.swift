import HTTPTypes
import Synchronization

/// The key that a first generation backend asks for: as configured, else as a client sends it. In
/// memory only.
final class ApplicationKey: Sendable {
    private let configured: String?
    private let learned = Mutex<String?>(nil)

    /// - Parameter configured: the operator's key, which no client's replaces.
    init(configured: String?) {
        self.configured = configured
    }

    /// The key; nil as long as none is known.
    var text: String? { configured ?? learned.withLock { $0 } }

    /// Takes the key of a client's request.
    /// - Parameter isRefused: the backend refuses what is known; else a known key stays.
    /// - Returns: whether it is one that was not known.
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

extension HTTPField.Name {
    static let zumoApplication = known("X-ZUMO-APPLICATION")
    static let zumoAPIVersion = known("ZUMO-API-VERSION")
}
