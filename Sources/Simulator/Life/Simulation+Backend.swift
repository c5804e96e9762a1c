import Backend
import TablesProtocol

/// What is asked of the backend behind the proxies' backs. The life stands still meanwhile: somebody
/// else's time would be a thread of its own.
extension Simulation {
    /// What took effect at the backend, in order.
    func effects() throws -> [Effect] { try backend.effects() }

    /// The rows at the backend, tombstones too.
    func remote() throws -> [Item] { try backend.items(in: table) }
}
