/// A name that is compared and ordered byte for byte, as in JSON. Swift's strings compare by canonical
/// equivalence: to them `é` as one character and as `e` with an accent are equal.
package struct ExactName: Sendable, Hashable, Comparable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// Makes the name that all spellings of a column have in common, since SQL backends ignore case.
    package init(lowercasing text: String) { self.text = text.lowercased() }

    /// Whether both have the same bytes.
    package static func == (left: ExactName, right: ExactName) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Whether the bytes of the left one come first.
    package static func < (left: ExactName, right: ExactName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The names of one object with their indexes from 0, compared byte for byte.
struct NameTable {
    /// The first ``Limits/namesWithoutHashes`` names. To compare so few is faster than to hash them.
    private var first: [ExactName] = []
    /// The indexes of the others.
    private var places: [ExactName: Int] = [:]

    /// The index of a name; nil if it was not added.
    func place(of name: String) -> Int? {
        let name = ExactName(name)
        return first.firstIndex(of: name) ?? (places.isEmpty ? nil : places[name])
    }

    /// Adds a name with the next index.
    /// - Returns: the index of an equal name that was added before; nil if there is none.
    mutating func insert(_ name: String) -> Int? {
        if let place = place(of: name) { return place }
        if first.count < Limits.namesWithoutHashes {
            first.append(ExactName(name))
        } else {
            places[ExactName(name)] = first.count + places.count
        }
        return nil
    }
}

extension String {
    /// Whether both texts have the same bytes. `==` also accepts canonically equivalent texts, but is fast
    /// if the texts differ.
    func hasSameBytes(as other: String) -> Bool {
        self == other && utf8.elementsEqual(other.utf8)
    }
}

extension StringProtocol {
    /// The text without leading and trailing Unicode white space.
    var withoutOuterSpace: String {
        let start = unicodeScalars.drop { $0.properties.isWhitespace }
        let end = start.reversed().drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(end.reversed()))
    }
}
