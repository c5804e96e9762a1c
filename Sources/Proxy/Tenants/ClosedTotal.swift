import SyncCore

/// What the closed stores hold together, and how many there are of each kind.
struct ClosedTotal: Sendable, Hashable {
    /// What those hold of which it is known; nil where nothing is.
    var sum: StoreSummary?
    /// Those that are in the sum and can be opened, as far as is known.
    var known = 0
    /// Those that were not looked at since the start, which are not in the sum.
    var unexamined = 0
    /// Those that could not be opened when that was last tried, whether in the sum or not.
    var failed = 0

    /// What a person should know of them. No user is named.
    var warnings: [String] {
        var warnings: [String] = []
        if unexamined > 0 {
            warnings.append(
                "\(unexamined) store\(unexamined == 1 ? " was" : "s were") not looked at since the "
                    + "start; the numbers leave \(unexamined == 1 ? "it" : "them") out.")
        }
        if failed > 0 {
            warnings.append(
                "\(failed) store\(failed == 1 ? "" : "s") could not be opened, so the changes in "
                    + "\(failed == 1 ? "it" : "them") wait. `understudy doctor` says which and why."
            )
        }
        return warnings
    }
}
