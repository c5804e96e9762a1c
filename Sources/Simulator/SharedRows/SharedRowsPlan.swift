package import Backend
package import SyncCore

/// What a run of shared rows is made of.
package struct SharedRowsPlan: Sendable {
    package var seed: UInt64
    package var flavour: BackendFlavour
    package var proxies: Int
    package var conflictPolicy: ConflictPolicy
    package var unconditionalPolicy: ConflictPolicy
    package var preservesHistory: Bool
    package var deletesSoftly: Bool
    /// How often the person who looks at a conflict decides later, on what it showed then.
    package var decidesLater = 0.3
    /// What goes wrong with requests.
    var faults = SharedRowsTransport.Fault.allCases

    /// The run of a seed: every flavour and policy, one or two proxies.
    /// - Parameter bug: a bug that only some settings can show has these settings.
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
        case .signInForgetsRequest: faults = [.failsAfter, .wantsSignIn]
        default: break
        }
    }

    /// A policy sends again what may have taken effect.
    var repeatsLocal: Bool { conflictPolicy == .client || unconditionalPolicy == .client }

    /// A policy lets the local change win over what its client has not seen.
    var letsLocalWin: Bool {
        conflictPolicy == .client || conflictPolicy == .merge || unconditionalPolicy == .client
    }
}
