/// What the module that owns the tables does for each transaction of a ``Writer``.
package protocol WriterOwner<Unit>: Sendable {
    /// What the bodies of a transaction work with.
    associatedtype Unit
    /// A moment in what a unit keeps in memory.
    associatedtype Mark

    /// The unit of a transaction that begins.
    func begin(on connection: Connection) -> Unit
    /// More entries join the transaction: nothing of them may look older than its request.
    func refresh(_ unit: inout Unit)
    /// This moment, to go back to it.
    func mark(_ unit: Unit) -> Mark
    /// Takes what a unit has kept in memory since a moment out again: its writes were rolled back.
    func rollBack(_ unit: Unit, to mark: Mark)
    /// Writes what was kept in memory: the last that is done before the commit.
    func finish(_ unit: Unit) throws
    /// Tells what was committed.
    func didCommit(_ unit: Unit)
    /// Removes what can be had again, for a file that has used up its budget; false where there is nothing.
    func makeRoom(_ unit: Unit) throws -> Bool
}
