import HTTPMessage
import HTTPTypes
import Platform
import TablesProtocol

/// What a request of one route may contain. Every request is checked by this before its handler is called.
struct RequestDescription: Sendable {
    /// The parameters of the query, each at most once.
    let parameters: [FieldDescription]
    /// The body; a request without one has an empty object.
    let body: ValueSchema
    /// Whether the request must have a body.
    let needsBody: Bool
}

// The checks.
extension RequestDescription {
    /// The query's parameters as the members of an object.
    func checkedQuery(_ text: Substring?) throws(Problem) -> JSONValue {
        var found: [JSONValue.Member] = []
        for (name, value) in try Self.pairs(text) {
            let shown = String(name.prefix(Platform.Limits.namedCharacters))
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                throw .invalid(
                    "The query's \(shown) is not known here"
                        + NearestName.hint(name, in: parameters.map(\.name)), parameter: shown)
            }
            guard !found.contains(where: { $0.name == name }) else {
                throw .invalid("The query has \(name) twice.", parameter: name)
            }
            guard let value = parameter.schema.value(parameter: value) else {
                throw .invalid(
                    "\(name) must be \(parameter.schema.parameterWords).", parameter: name)
            }
            found.append(.init(name, value))
        }
        return .object(found)
    }

    /// The body as a value that fits; an empty object for a request without one.
    func checkedBody(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        if bytes.isEmpty {
            if needsBody { throw .invalid("This request needs a body.", pointer: "") }
            return .object([])
        }
        let value: JSONValue
        do {
            value = try JSONValue(
                parsing: bytes, names: .mayRepeat,
                maxDepth: TablesProtocol.Limits.envelopeDepth)
        } catch {
            throw .invalid("The body cannot be read: \(error)")
        }
        do {
            try body.check(body: value)
        } catch {
            throw .invalid(error.sentence, pointer: error.pointer.text)
        }
        return value
    }

    /// The pairs of a query, decoded.
    static func pairs(_ query: Substring?) throws(Problem) -> [(name: String, value: String)] {
        var pairs: [(String, String)] = []
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true),
                let value = PercentCoding.decode(parts.count > 1 ? parts[1] : "", plusIsSpace: true)
            else { throw .invalid("The query holds a percent sequence that is not UTF-8 text.") }
            pairs.append((name, value))
        }
        return pairs
    }
}

extension ValueSchema {
    /// The value of the text of a parameter; nil if it does not fit. Lists and objects are not for parameters.
    func value(parameter text: String) -> JSONValue? {
        switch self {
        case .boolean: return BooleanText.value(text).map { .bool($0) }
        case .integer(let range):
            guard let number = Int(text), range.contains(number), String(number) == text else {
                return nil
            }
            return .number(number)
        case .text(let length): return text.count >= length ? .string(text) : nil
        case .word(let words, _): return words.contains(text) ? .string(text) : nil
        case .time: return Instant(iso: text) == nil ? nil : .string(text)
        case .list, .object, .row, .nullable: return nil
        }
    }

    /// What fits as the text of a parameter, for a sentence.
    fileprivate var parameterWords: String {
        if case .boolean = self { BooleanText.allowed } else { words }
    }
}

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

    func member(_ name: String) -> JSONPointer {
        var pointer = self
        pointer.place = .member(name, of: place)
        return pointer
    }

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
        for scalar in name.unicodeScalars.prefix(Platform.Limits.namedCharacters) {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
