import TablesProtocol

/// What must hold in every simulation run.
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

/// What must be true, kept apart from the code under test.
struct Model {
    /// Ids that local clients or others have made.
    var ids: [String] = []
    /// For each id and each column that only one side writes, the last value it was promised.
    var promised: [String: [String: String]] = [:]
    /// Items whose end is not forced: deleted, or decided by a person.
    var spoiled: Set<String> = []
    /// Items whose last local write was a delete, and by which proxy.
    var deletedBy: [String: Int] = [:]
    /// Which sides ever wrote an item: the number of a proxy, or -1 for others.
    var writers: [String: Set<Int>] = [:]
    /// The item that a child names.
    var parents: [String: String] = [:]
    /// Items whose history a person changed: their order is no longer forced.
    var released: Set<String> = []
    /// Operations that a person decided on: they may be sent again.
    var decided: Set<String> = []
    /// The order of every operation that was seen.
    var order: [String: Int64] = [:]

    /// Books a write of a side.
    mutating func wrote(_ side: Int, _ id: String, _ column: String? = nil, _ value: String = "") {
        writers[id, default: []].insert(side)
        if let column { promised[id, default: [:]][column] = value }
    }
}
