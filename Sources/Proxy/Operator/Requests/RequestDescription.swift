import HTTPMessage
import HTTPTypes
import Platform
import TablesProtocol

/// What a request of one route may contain, as openapi.json describes it. Every request is checked by this
/// before its handler is called.
struct RequestDescription: Sendable, Hashable {
    struct Parameter: Sendable, Hashable {
        let name: String
        let schema: ValueSchema
    }

    /// The parameters of the query, each at most once.
    var parameters: [Parameter] = []
    /// The body; a request without one has an empty object.
    var body: ValueSchema = .object([])
    /// Whether the request must have a body.
    var needsBody = false

    /// The description of a route. A route that openapi.json does not have may contain nothing.
    init(_ route: OperatorRoute) {
        self = Self.all["\(route.method.rawValue) \(route.pattern)"] ?? RequestDescription()
    }

    private init() {}

    /// The descriptions by method and path, such as `GET /-/livez`.
    private static let all: [String: RequestDescription] = {
        do {
            return try read(JSONValue(parsing: PackageResources.openapi_json))
        } catch {
            preconditionFailure("openapi.json, which is a part of this program: \(error)")
        }
    }()

    static func read(
        _ document: JSONValue
    ) throws(ValueSchema.Unreadable) -> [String: RequestDescription] {
        var found: [String: RequestDescription] = [:]
        guard case .object(let paths)? = document["paths"] else { return found }
        for path in paths {
            guard case .object(let operations) = path.value else { continue }
            for operation in operations {
                found["\(operation.name.uppercased()) \(path.name)"] =
                    try RequestDescription(operation.value, in: document)
            }
        }
        return found
    }

    private init(
        _ operation: JSONValue, in document: JSONValue
    ) throws(ValueSchema.Unreadable) {
        for given in operation["parameters"]?.array ?? [] {
            let parameter =
                given["$ref"]?.string.map { ValueSchema.resolve($0, in: document) } ?? given
            guard parameter["in"] == .string("query"), let name = parameter["name"]?.string else {
                continue
            }
            parameters.append(
                Parameter(
                    name: name,
                    schema: try ValueSchema(parameter["schema"] ?? .null, in: document)))
        }
        if let described = operation["requestBody"] {
            body = try ValueSchema(
                described["content"]?["application/json"]?["schema"] ?? .null, in: document)
            needsBody = described["required"]?.bool ?? false
        }
    }
}

// The checks.
extension RequestDescription {
    /// The query's parameters by name.
    func checkedQuery(_ text: Substring?) throws(Problem) -> [String: String] {
        var found: [String: String] = [:]
        for (name, value) in try Self.pairs(text) {
            let shown = String(name.prefix(Platform.Limits.namedCharacters))
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                throw .invalid(
                    "The query's \(shown) is not known here"
                        + NearestName.hint(name, in: parameters.map(\.name)), parameter: shown)
            }
            guard found.updateValue(value, forKey: name) == nil else {
                throw .invalid("The query has \(name) twice.", parameter: name)
            }
            if !parameter.schema.fits(parameter: value) {
                throw .invalid(
                    "\(name) must be \(parameter.schema.parameterWords).", parameter: name)
            }
        }
        return found
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
    /// Whether the text of a parameter is such a value. Lists and objects are not for parameters.
    func fits(parameter text: String) -> Bool {
        switch self {
        case .boolean: BooleanText.value(text) != nil
        case .integer(let range):
            Int64(text).map { range.contains($0) && String($0) == text } ?? false
        case .text(let length): text.count >= length
        case .word(let words): words.contains(text)
        case .time: Instant(iso: text) != nil
        case .list, .object, .row, .nullable: false
        }
    }

    /// What fits as the text of a parameter, for a sentence.
    fileprivate var parameterWords: String { self == .boolean ? BooleanText.allowed : words }
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
