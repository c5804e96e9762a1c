/// A place in a request that does not fit its description.
struct Misfit: Error, Sendable, Hashable {
    /// Where it is: a JSON pointer (RFC 6901) into the body.
    let pointer: JSONPointer
    /// One sentence for a person, which names the place.
    let sentence: String
}

/// A place in a JSON value (RFC 6901). The check of a body makes one for every value in it, so a place refers
/// to the place around it and has no text of its own: a long name is not copied for each value below it.
struct JSONPointer: Sendable, Hashable {
    private indirect enum Place: Sendable, Hashable {
        case whole
        case member(String, of: Place)
        case element(Int, of: Place)
    }
    private var place = Place.whole

    /// The place of the whole value.
    init() {}

    /// `/filter/state/0`; empty for the whole value. Of a long name only the beginning is there.
    var text: String {
        var names: [String] = []
        var rest = place
        while true {
            switch rest {
            case .whole: return names.reversed().map { "/\($0)" }.joined()
            case .member(let name, let outer):
                names.append(Self.escaped(name))
                rest = outer
            case .element(let index, let outer):
                names.append(String(index))
                rest = outer
            }
        }
    }

    /// The place of a member of the value at this place.
    func member(_ name: String) -> JSONPointer {
        var pointer = self
        pointer.place = .member(name, of: place)
        return pointer
    }

    /// The place of an element of the list at this place.
    func element(_ index: Int) -> JSONPointer {
        var pointer = self
        pointer.place = .element(index, of: place)
        return pointer
    }

    /// How a sentence names the place.
    var name: String { place == .whole ? "The body" : text }

    // By Unicode scalars, because one character may have any number of them.
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(Limits.namedCharacters) {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
