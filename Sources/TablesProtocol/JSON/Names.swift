/// The names of one object with their indexes from 0. Names are compared byte for byte, as in JSON; Swift's
/// strings compare by canonical equivalence.
struct NameTable {
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            left.text.hasSameBytes(as: right.text)
        }
    }
    private var places: [Name: Int] = [:]

    /// The index of a name; nil if it was not added.
    func place(of name: String) -> Int? { places[Name(text: name)] }

    /// Adds a name with the next index.
    /// - Returns: the index of an equal name that was added before; nil if there is none.
    mutating func insert(_ name: String) -> Int? {
        if let place = place(of: name) { return place }
        places[Name(text: name)] = places.count
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
