import Backend
import HTTPMessage
import TablesProtocol

/// The parameters of a simulation run.
package struct Plan: Sendable {
    var seed: UInt64
    var flavour: BackendFlavour
    /// The number of requests that a proxy sends at once.
    var parallelism: Int
    var proxies: Int
    /// Whether the engines sync by themselves, rather than when a step says so.
    var isAutomatic: Bool
    /// Whether items refer to others by a declared column.
    var hasParents: Bool
    /// Whether the backend is sometimes restored from an earlier copy.
    var isRestored: Bool
    /// Whether ready jobs run in an order drawn from the seed, rather than in the order in which they
    /// became ready.
    var isShuffled: Bool

    /// The flavours that are simulated. The express flavour is the Node server with other tables.
    static let flavours = BackendFlavour.allCases.filter { $0 != .express }

    /// The generation of the backend.
    var generation: Generation {
        switch flavour {
        case .mobileServices: .mobileServices
        case .mobileApps, .node, .express, .dotnet: .mobileApps
        case .datasync, .toolkit: .datasync
        }
    }

    /// The plan of a seed. Over many seeds: every flavour, one to three proxies, parallel requests,
    /// automatic sync, parents, a restored backend, and shuffled jobs.
    package init(_ seed: UInt64) {
        self.seed = seed
        let all = Self.flavours
        flavour = all[Int((seed / 6 &+ seed) % UInt64(all.count))]
        parallelism = seed % 5 == 0 ? 4 : 1
        proxies = [1, 2, 1, 2, 1, 3][Int(seed % 6)]
        isAutomatic = seed % 7 == 3
        hasParents = seed % 4 == 1
        isRestored = seed % 9 == 4
        isShuffled = seed % 11 < 4
    }
}

/// A bug in the simulated environment, with which a test shows that the checks find it. The program has
/// none.
protocol PlantedBug: Sendable {
    /// An answer instead of the backend's; nil to pass the request on.
    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response?
    /// Called between two steps of the run.
    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws
    /// Called instead of the store's maintenance; true if the bug replaced it.
    func runsMaintenance(of proxy: SimulatedProxy) async throws -> Bool
    /// Called before a store is opened again after a crash.
    func damage(storeAt path: String) throws
    /// Whether the engines' own loops are started.
    var startsLoops: Bool { get }
}
