/// A place in a request that does not fit its description.
struct Misfit: Error, Sendable, Hashable {
    /// Where it is: a JSON pointer (RFC 6901) into the body.
    let pointer: JSONPointer
    /// One sentence for a person, which names the place.
    let sentence: String
}

/// A place in a JSON value (RFC 6901).
struct JSONPointer: Sendable, Hashable {
    /// `/filter/state/0`; empty for the whole value.
    private(set) var text = ""

    /// The place of a member of the value at this place.
    func member(_ name: String) -> JSONPointer {
        var pointer = self
        pointer.text += "/"
        for character in name.prefix(Limits.namedCharacters) {
            switch character {
            case "~": pointer.text += "~0"
            case "/": pointer.text += "~1"
            default: pointer.text.append(character)
            }
        }
        return pointer
    }

    /// The place of an element of the list at this place.
    func element(_ index: Int) -> JSONPointer { member(String(index)) }

    /// How a sentence names the place.
    var name: String { text.isEmpty ? "The body" : text }
}
