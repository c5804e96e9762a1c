import HTTPMessage

/// What is done to the simulated world behind everybody's back, to see whether the checks notice. The
/// program does nothing of the kind; whoever doubts the checks does.
protocol Sabotage: Sendable {
    /// An answer in the place of the backend's; nil when the request goes its way.
    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response?
    /// Between two steps of the life.
    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws
    /// While house is kept; true when it was done in another way.
    func keepsHouse(of proxy: SimulatedProxy) async throws -> Bool
    /// Before a store is opened again on what was on disk.
    func touch(storeAt path: String) throws
    /// Whether an engine's own loop is set going.
    var startsLoops: Bool { get }
}
