/// The names of one object and their places, counted from 0, compared byte for byte as JSON does
/// (Swift's strings compare by canonical equivalence).
struct NameTable {
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            left.text.hasSameBytes(as: right.text)
        }
    }
    private var places: [Name: Int] = [:]

    /// The place of a name; nil when it was not added.
    func place(of name: String) -> Int? { places[Name(text: name)] }

    /// Adds a name at the next place; the place of the same name when it was there already.
    mutating func insert(_ name: String) -> Int? {
        if let place = place(of: name) { return place }
        places[Name(text: name)] = places.count
        return nil
    }
}

extension String {
    /// Whether both texts have the same bytes. Swift's `==` takes canonically equivalent texts for
    /// equal, but it is quick where it finds a difference.
    func hasSameBytes(as other: String) -> Bool {
        self == other && utf8.elementsEqual(other.utf8)
    }
}

extension StringProtocol {
    /// The text without the white space around it: blanks, line ends and what else Unicode calls so.
    var withoutOuterSpace: String {
        let start = unicodeScalars.drop { $0.properties.isWhitespace }
        let end = start.reversed().drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(end.reversed()))
    }
}
