import TablesProtocol

/// What must be true, kept apart from the code under test.
struct Model {
    /// Ids that local clients or others have made.
    var ids: [String] = []
    /// The last value of `m` that a local client was promised, and of `e` that others wrote.
    var mine: [String: String] = [:]
    var theirs: [String: String] = [:]
    /// What local clients see: set by their writes, forgotten when sync may change it.
    var shown: [String: Columns?] = [:]
    /// Items whose end is not forced: deleted, or decided by a person.
    var spoiled: Set<String> = []
    /// Items that only local clients touched and whose last local write was a delete.
    var deletedHere: Set<String> = []
    var touchedElsewhere: Set<String> = []
    /// Operations that a person decided on: they may be sent again.
    var decided: Set<String> = []
    /// Conflicts seen and not yet decided.
    var conflicts: Set<String> = []
    var acknowledged = 0
}
