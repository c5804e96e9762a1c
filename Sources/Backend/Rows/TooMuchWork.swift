/// A list takes more than ``Limits/listSteps`` or ``Limits/listMilliseconds``, or more time than PostgreSQL
/// gives a statement. The same list would again.
struct TooMuchWork: Error, CustomStringConvertible {
    /// What the client can do.
    let description = """
        This list needs more work than one may take. Ask for less at a time: fewer functions in the filter, \
        or a range of updatedAt.
        """
}
