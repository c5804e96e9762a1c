package import Backend
package import SyncCore

/// The parameters of a run of shared rows.
package struct SharedRowsPlan: Sendable {
    /// The seed of all random choices.
    package var seed: UInt64
    /// The flavour of the backend.
    package var flavour: BackendFlavour
    /// The number of proxies.
    package var proxies: Int
    /// The policy for conflicts of writes with a condition.
    package var conflictPolicy: ConflictPolicy
    /// The policy for conflicts of writes without a condition.
    package var unconditionalPolicy: ConflictPolicy
    /// Whether an update that is due is sent before the delete that follows it.
    package var preservesHistory: Bool
    /// Whether the table deletes softly.
    package var deletesSoftly: Bool
    /// The probability that the person decides later about an older version of a conflict.
    package var decidesLater = 0.3
    /// The faults of requests.
    var faults = SharedRowsTransport.Fault.allCases

    /// The plan of a seed: every flavour and policy, one or two proxies.
    /// - Parameter bug: a planted bug that shows only with some settings gets these settings.
    package init(_ seed: UInt64, lookingFor bug: ProductBug? = nil) {
        let random = SeededRandom(seed &* 7919)
        self.seed = seed
        flavour = random.pick(Plan.flavours)
        proxies = random.happens(0.4) ? 2 : 1
        let asks = random.happens(0.6)
        conflictPolicy = asks ? .ask : random.pick(ConflictPolicy.allCases)
        unconditionalPolicy = random.happens(0.1) ? .client : .ask
        preservesHistory = random.happens(0.3)
        deletesSoftly = random.happens(0.8)
        switch bug {
        case .foldOrphansSuccessor: preservesHistory = true
        case .mergeSendsTwice: conflictPolicy = .merge
        case .staleDecisionIsTaken: (conflictPolicy, decidesLater) = (.ask, 0.6)
        case .signInForgetsRequest: faults = [.failsAfter, .requiresSignIn]
        default: break
        }
    }

    /// Whether a policy resends an operation that may have taken effect.
    var repeatsLocal: Bool { conflictPolicy == .client || unconditionalPolicy == .client }

    /// Whether a policy lets the local change win over a value that its client has not seen.
    var letsLocalWin: Bool {
        conflictPolicy == .client || conflictPolicy == .merge || unconditionalPolicy == .client
    }
}
