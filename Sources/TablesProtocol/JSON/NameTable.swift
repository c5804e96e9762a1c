/// The names of one object with their places, compared byte for byte as JSON does (Swift's strings
/// compare by canonical equivalence).
struct NameTable {
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            left.text.hasSameBytes(as: right.text)
        }
    }
    /// Up to this many names are compared one by one, which is faster than hashing them.
    private static let few = 12
    private var names: [String] = []
    private var places: [Name: Int] = [:]

    /// Adds a name with its place; the place of the same name when it was there already.
    mutating func insert(_ name: String, at place: Int) -> Int? {
        guard names.count < Self.few else { return insertHashed(name, at: place) }
        if names.isEmpty { names.reserveCapacity(Self.few) }
        if let index = names.firstIndex(where: { $0.hasSameBytes(as: name) }) {
            return index
        }
        names.append(name)
        return nil
    }

    private mutating func insertHashed(_ name: String, at place: Int) -> Int? {
        if places.isEmpty {
            for (index, name) in names.enumerated() { places[Name(text: name)] = index }
        }
        if let known = places[Name(text: name)] { return known }
        places[Name(text: name)] = place
        return nil
    }
}
