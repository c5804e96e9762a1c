import SyncCore
import TablesProtocol

/// Proves that the stores can take a durable write, at most once in ``Limits/readinessMilliseconds``:
/// a proof is a write, and any program of the machine may ask for one.
actor Readiness {
    /// How many of so many stores failed, and why the first of them did.
    struct Finding: Sendable, Hashable {
        var stores = 0
        var failed = 0
        var reason: String?
    }

    private let now: @Sendable () -> Instant
    private let prove: @Sendable () async -> Finding
    private var last: (at: Instant, finding: Task<Finding, Never>)?

    /// - Parameter prove: writes to each store.
    init(
        now: @escaping @Sendable () -> Instant, prove: @escaping @Sendable () async -> Finding
    ) {
        self.now = now
        self.prove = prove
    }

    /// What the last proof found, or a new one where that is too old. All that ask while a proof runs
    /// get its finding.
    func finding() async -> Finding {
        let at = now()
        if let last,
            (0..<Limits.readinessMilliseconds).contains(
                at.milliseconds - last.at.milliseconds)
        {
            return await last.finding.value
        }
        // Unstructured, so that a caller who goes away does not end the proof for the others. The caller
        // below awaits it, and it ends with `prove`, which writes once to each store.
        let proof = Task { [prove] in await prove() }
        last = (at, proof)
        return await proof.value
    }
}
