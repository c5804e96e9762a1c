import Backend
import HTTPMessage
import TablesProtocol

/// What a simulation run is made of.
package struct Plan: Sendable {
    var seed: UInt64
    var flavour: BackendFlavour
    /// Operations that a proxy sends at once.
    var parallelism: Int
    var proxies: Int
    /// The engines sync by themselves, not when a step says so.
    var isAutomatic: Bool
    /// Items name others by a declared column.
    var hasParents: Bool
    /// The backend is put back to an earlier copy now and then.
    var isRestored: Bool
    /// What is ready runs in an order drawn from the seed, not in that in which it became ready.
    var isShuffled: Bool

    /// The flavours that are played. The express flavour is the Node server with other tables.
    static let flavours = BackendFlavour.allCases.filter { $0 != .express }

    /// Whose words the backend understands.
    var generation: Generation {
        switch flavour {
        case .mobileServices: .mobileServices
        case .mobileApps, .node, .express, .dotnet: .mobileApps
        case .datasync, .toolkit: .datasync
        }
    }

    /// The run that belongs to a seed: every flavour, one to three proxies, some in parallel, some
    /// by themselves, with parents, with a backend that is restored, or in an order of chance.
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

/// A bug that a test puts into the simulated world, to see whether the checks find it. The program plants
/// none.
protocol PlantedBug: Sendable {
    /// An answer in the place of the backend's; nil when the request goes its way.
    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response?
    /// Between two steps of the run.
    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws
    /// In the place of maintenance; true when it was done in another way.
    func runsMaintenance(of proxy: SimulatedProxy) async throws -> Bool
    /// Before a store is opened again on what was on disk.
    func damage(storeAt path: String) throws
    /// Whether an engine's own loop is set going.
    var startsLoops: Bool { get }
}
