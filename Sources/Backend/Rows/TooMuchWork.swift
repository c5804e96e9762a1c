/// A list takes more than ``Limits/listSteps`` or ``Limits/listMilliseconds`` in SQLite, or more than
/// ``Limits/postgreSQLListMilliseconds`` in PostgreSQL. The same list would again.
struct TooMuchWork: Error, CustomStringConvertible {
    /// The sentence for the client, with what it can do.
    let description = """
        This list needs more work than one may take. Ask for less at a time: fewer functions in the filter, \
        or a range of updatedAt.
        """
}
