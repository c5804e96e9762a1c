/// The database was made ready by a newer program.
struct NewerSchema: Error, CustomStringConvertible {
    let found: Int
    let known: Int

    var description: String {
        """
        The database has version \(found) of the schema, and this program knows \(known). \
        Install the version that made it so, or a newer one.
        """
    }
}
