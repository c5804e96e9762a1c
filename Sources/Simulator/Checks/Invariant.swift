/// What must hold in every life.
package enum Invariant: String, CaseIterable, Sendable {
    case ledger = "I1"
    case kept = "I2"
    case once = "I3"
    case order = "I4"
    case ownWrites = "I5"
    case convergence = "I6"
    case decisions = "I7"
    case liveness = "I8"
    case age = "I9"
    case pending = "I10"
    case answers = "I11"
    case file = "I12"
    case downstream = "I13"
    case parents = "I14"

    /// The promise in one sentence.
    package var sentence: String {
        switch self {
        case .ledger: "Every accepted write is accounted for."
        case .kept: "No acknowledged write is lost."
        case .once: "No operation takes effect twice at the backend."
        case .order: "The operations of an item take effect in their order."
        case .ownWrites: "A client reads what it wrote."
        case .convergence: "In the end the store and the backend hold the same."
        case .decisions: "No conflict goes away unless somebody decided it."
        case .liveness: "With the backend in reach, what is due is tried within 30 s."
        case .age: "No open operation goes by age."
        case .pending: "What comes from the backend does not overwrite a local change."
        case .answers: "What a client was answered is what it reads, until sync changes it."
        case .file: "The store's file is sound."
        case .downstream: "A client with a store of its own misses no change."
        case .parents: "A declared parent is inserted before its children and deleted after them."
        }
    }
}
