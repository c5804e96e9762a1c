/// The names of one object, compared byte for byte as JSON does (Swift's strings compare by
/// canonical equivalence).
struct NameSet {
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            left.text.utf8.elementsEqual(right.text.utf8)
        }
    }
    private var names: Set<Name> = []

    /// Adds a name; false when it was there.
    mutating func insert(_ name: String) -> Bool { names.insert(Name(text: name)).inserted }
}
