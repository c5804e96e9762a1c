import TablesProtocol

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
