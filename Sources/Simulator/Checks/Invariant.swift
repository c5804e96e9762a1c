import TablesProtocol

/// The invariants that every simulation run checks.
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

    /// The invariant as one sentence.
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

/// The expected state, recorded independently of the code under test.
struct Model {
    /// The ids that local clients or other writers have inserted.
    var ids: [String] = []
    /// For each id and each column that only one side writes: the last value that was acknowledged.
    var expectedValues: [String: [String: String]] = [:]
    /// Items whose end state is not determined: deleted, or decided by a person.
    var undetermined: Set<String> = []
    /// Items whose last local write was a delete, and the number of its proxy.
    var deletedBy: [String: Int] = [:]
    /// The sides that ever wrote an item: the number of a proxy, or -1 for other writers.
    var writers: [String: Set<Int>] = [:]
    /// The parent of each child.
    var parents: [String: String] = [:]
    /// Items whose order of operations is not determined, because a person changed their history.
    var unordered: Set<String> = []
    /// Operations that a person decided about. They may be sent again.
    var decided: Set<String> = []
    /// The `seq` of every operation that was seen.
    var order: [String: Int64] = [:]

    /// Records a write of a side.
    mutating func recordWrite(
        by side: Int, _ id: String, _ column: String? = nil, _ value: String = ""
    ) {
        writers[id, default: []].insert(side)
        if let column { expectedValues[id, default: [:]][column] = value }
    }
}
