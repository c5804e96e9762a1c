/// How a row of the backend came to us, as far as it tells more than its columns.
struct RowOrigin: Sendable, Hashable {
    /// It has every column; otherwise absent ones are unchanged.
    var isWhole = true
    /// It is the answer to our own insert or conditional request, so that no other writer has a part
    /// in it; a row that was read back may hold other writers' changes.
    var isOwnAnswer = false
}
