import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// The generations' marks on a request that is passed on, whatever its path.
enum Dialect {
    /// Makes the head of a client's request one that servers of another generation take.
    ///
    /// 1. The version mark: the first generation refuses any, the second wants its own; the third
    ///    takes what it gets.
    /// 2. The application key, which the first generation asks for.
    /// 3. The token in the field where the generation looks for it, beside the client's own.
    static func translate(
        _ head: inout HTTPRequest, from client: Generation, to backend: Generation, key: String?
    ) {
        guard client != backend else { return }
        switch backend {
        case .mobileServices:
            head.headerFields[.zumoAPIVersion] = nil
            head.path = head.path.map(withoutVersion)
            if head.headerFields[.zumoApplication] == nil {
                head.headerFields[.zumoApplication] = key
            }
        case .mobileApps:
            head.headerFields[.zumoAPIVersion] = "2.0.0"
            head.path = head.path.map(withoutVersion)
        case .datasync: break
        }
        for field in Token(head.headerFields, generation: client)?.field.token(for: backend) ?? []
        where head.headerFields[field.name] == nil {
            head.headerFields[field.name] = field.value
        }
    }

    /// What a request that is made here, in a client's stead, is marked with.
    static func mark(_ fields: inout HTTPFields, as generation: Generation, key: String?) {
        switch generation {
        case .mobileServices: fields[.zumoApplication] = key
        case .mobileApps: fields[.zumoAPIVersion] = "2.0.0"
        case .datasync: fields[.zumoAPIVersion] = "3.0.0"
        }
    }

    private static func withoutVersion(_ target: String) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        let pairs = target[target.index(after: mark)...].split(
            separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { !$0.lowercased().hasPrefix("zumo-api-version=") }
        guard kept.count < pairs.count else { return target }
        return target[..<mark] + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
    }
}

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
