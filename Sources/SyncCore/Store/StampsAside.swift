/// Stamps of one table that a transaction has set aside for many rows: one statement for all of them
/// instead of one each. Those that are left over at its end are given to nobody.
///
/// A class, since a transaction is passed on by value; it lives and dies with it, on one thread.
final class StampsAside {
    private var table: Int64?
    private var count: Int64 = 1
    private var left: Range<Int64> = 0..<0

    /// Says that so many rows of a table may be written.
    func expect(_ rows: Int, of table: Int64) {
        (self.table, count, left) = (table, max(Int64(rows), 1), 0..<0)
    }

    /// How many to take at once.
    func expected(of table: Int64) -> Int64 { table == self.table ? count : 1 }

    /// Keeps what was taken.
    func keep(_ stamps: Range<Int64>, of table: Int64) {
        if table == self.table { left = stamps }
    }

    /// The next one that was set aside; nil when there is none.
    func next(of table: Int64) -> Int64? {
        guard table == self.table else { return nil }
        return left.popFirst()
    }
}
