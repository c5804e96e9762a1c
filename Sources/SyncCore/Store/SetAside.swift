/// Counters that a transaction keeps in memory while it runs, so that one statement writes at its end what
/// would be one for each row. Whoever commits writes them before (``Transaction/flush()``); what is
/// counted for a part that is taken back is given to nobody, and leaves a gap.
///
/// A class, since a transaction is passed on by value; it lives and dies with it, on one thread.
final class SetAside {
    /// The last stamp of each table that got one.
    var lastStamps: [Int64: Int64] = [:]
    /// The counter of committed push outcomes, once there was one.
    var changes: Int64?
}
