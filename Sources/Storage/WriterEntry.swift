/// One write of a group, and its caller.
package struct WriterEntry<Unit>: Sendable {
    /// What a write came to, before its commit.
    package struct Made: Sendable {
        /// False when what it wrote has to be rolled back.
        let isKept: Bool
        /// Tells the caller, once the group is on disk.
        let answer: @Sendable () -> Void

        package init(isKept: Bool, answer: @escaping @Sendable () -> Void) {
            self.isKept = isKept
            self.answer = answer
        }
    }

    /// Whether it has to be written even where no room is left, or many wait.
    let isNeverRefused: Bool
    /// Whether its answer is more than to wake a task.
    let takesTime: Bool
    /// Makes the write in the group's transaction; runs again when the group has to.
    let make: @Sendable (Unit) throws -> Made
    /// Tells the caller that nothing was written.
    let fail: @Sendable (StorageError) -> Void

    package init(
        isNeverRefused: Bool, takesTime: Bool,
        make: @escaping @Sendable (Unit) throws -> Made,
        fail: @escaping @Sendable (StorageError) -> Void
    ) {
        self.isNeverRefused = isNeverRefused
        self.takesTime = takesTime
        self.make = make
        self.fail = fail
    }
}
