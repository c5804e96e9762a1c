/// A storage that cannot answer for now: the same request may succeed later.
struct StorageUnavailable: Error, CustomStringConvertible {
    /// Why, in a sentence.
    let reason: String

    var description: String { reason }
}
