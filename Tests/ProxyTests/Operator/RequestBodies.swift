import TablesProtocol

@testable import Proxy

/// Makes the bodies of requests from openapi.json: one that is right for each route, and wrong ones. It reads
/// the document itself, not by the schemas that the proxy makes of it.
struct RequestBodies {
    /// A wrong body with the place where it is wrong.
    struct Wrong {
        let body: JSONValue
        let pointer: String
        let what: String
    }

    /// A place in a body: names of members and indexes of elements.
    private typealias Place = [String]

    let document: JSONValue
    let schema: JSONValue
    /// Values for places that only certain values fit, by JSON pointer.
    let given: [String: JSONValue]
    /// Members of the body that do not go with the others.
    let leftOut: Set<String>

    /// The right body, with all members that go together.
    var right: JSONValue { example(schema, []) }

    /// The right body with each place misspelt, doubled, null and of other types.
    var wrong: [Wrong] {
        let start = [([], schema)] + places(schema, [])
        return start.flatMap { place, schema in
            let values = misfits(schema).map { value in
                Wrong(
                    body: change(right, place) { [.init($0, value)] }, pointer: text(place),
                    what: value.text)
            }
            guard let name = place.last, Int(name) == nil else { return values }
            let parent = Array(place.dropLast())
            let misspelt = [name + "x", name.uppercased(), " \(name)"].map { other in
                Wrong(
                    body: change(right, place) { _ in [.init(other, example(schema, place))] },
                    pointer: text(parent + [other]), what: "misspelt")
            }
            let doubled = Wrong(
                body: change(right, place) { name in
                    [.init(name, example(schema, place)), .init(name, example(schema, place))]
                }, pointer: text(place), what: "doubled")
            return values + misspelt + [doubled]
        }
    }

    private func resolved(_ schema: JSONValue) -> JSONValue {
        OpenAPIShapes(document).resolved(schema)
    }

    private func types(_ schema: JSONValue) -> [String] {
        schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string ?? ""]
    }

    private func text(_ place: Place) -> String { place.map { "/\($0)" }.joined() }

    private func example(_ schema: JSONValue, _ place: Place) -> JSONValue {
        let schema = resolved(schema)
        if let value = given[text(place)] { return value }
        if let first = (schema["enum"] ?? schema["examples"])?.array?.first { return first }
        switch types(schema)[0] {
        case "boolean": return .bool(true)
        case "integer": return schema["minimum"] ?? .number(1)
        case "string": return .string("todoitem")
        case "array": return .array([example(schema["items"] ?? .null, place + ["0"])])
        default:
            guard case .object(let properties)? = schema["properties"] else {
                return .members(("text", .string("changed")))
            }
            let members = properties.map { property in
                JSONValue.Member(property.name, example(property.value, place + [property.name]))
            }
            return .object(members.filter { !place.isEmpty || !leftOut.contains($0.name) })
        }
    }

    /// Every place below a schema's.
    private func places(_ schema: JSONValue, _ place: Place) -> [(Place, JSONValue)] {
        let schema = resolved(schema)
        var found: [(Place, JSONValue)] = []
        if case .object(let properties)? = schema["properties"] {
            found = properties.map { (place + [$0.name], $0.value) }
        } else if let items = schema["items"] {
            found = [(place + ["0"], items)]
        }
        return found.flatMap { [$0] + places($0.1, $0.0) }
    }

    /// Values that a schema does not allow.
    private func misfits(_ schema: JSONValue) -> [JSONValue] {
        let schema = resolved(schema)
        let types = types(schema)
        let all: [(String, JSONValue)] = [
            ("null", .null), ("boolean", .bool(false)), ("integer", .number(2)),
            ("string", .string("true")), ("array", .array([])), ("object", .object([])),
        ]
        var values = all.filter { !types.contains($0.0) }.map(\.1)
        if !types.contains("string") { values.append(.string("1")) }
        if !types.contains("array") { values.append(.array([.string("mine")])) }
        if types.contains("integer"), let half = JSONNumber("1.5") { values.append(.number(half)) }
        if types.contains("integer"), let huge = JSONNumber("1e30") { values.append(.number(huge)) }
        if let least = schema["minimum"]?.integer { values.append(.number(least - 1)) }
        if let most = schema["maximum"]?.integer { values.append(.number(most + 1)) }
        if schema["minLength"] != nil { values.append(.string("")) }
        if schema["minItems"] != nil { values.append(.array([])) }
        if schema["enum"] != nil || schema["format"] != nil {
            values += [.string("sideways"), .string("")]
        }
        return values
    }

    /// The value with other members at a place, whose name `make` gets.
    private func change(
        _ value: JSONValue, _ place: Place, _ make: (String) -> [JSONValue.Member]
    ) -> JSONValue {
        guard let name = place.first else { return make("")[0].value }
        let rest = Array(place.dropFirst())
        switch value {
        case .array(var elements):
            elements[0] = change(elements[0], rest, make)
            return .array(elements)
        case .object(let members):
            var found = members
            let index = members.firstIndex { $0.name == name }
            if rest.isEmpty {
                let range = index.map { $0..<($0 + 1) } ?? members.endIndex..<members.endIndex
                found.replaceSubrange(range, with: make(name))
            } else if let index {
                found[index].value = change(members[index].value, rest, make)
            }
            return .object(found)
        case .null, .bool, .number, .string: return value
        }
    }
}
