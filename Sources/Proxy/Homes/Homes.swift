import HTTPMessage
import Synchronization

/// Every identity's home. A request is led to one of them and sees nothing of the others.
final class Homes: Sendable {
    /// The identity of requests without a credential.
    static let anonymous = "anonymous"

    private let homes: Mutex<[String: Home]>

    /// Makes the registry.
    init(_ homes: [Home]) {
        self.homes = Mutex(Dictionary(uniqueKeysWithValues: homes.map { ($0.identity, $0) }))
    }

    /// The home of an identity.
    func home(_ identity: String) -> Home? {
        homes.withLock { $0[identity] }
    }

    /// The home that a client's request belongs to.
    func home(for request: Request) -> Home? {
        home(Self.anonymous)
    }

    /// All homes, `anonymous` first.
    var all: [Home] {
        homes.withLock { homes in
            homes.values.sorted { left, right in
                (left.identity == Self.anonymous ? 0 : 1, left.identity)
                    < (right.identity == Self.anonymous ? 0 : 1, right.identity)
            }
        }
    }
}
