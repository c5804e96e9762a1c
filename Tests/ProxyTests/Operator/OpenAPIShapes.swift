import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Compares answers with the schemas of the OpenAPI document, as far as the document uses them:
/// types, required and unexpected members, enums, references, oneOf.
struct OpenAPIShapes {
    private let document: JSONValue

    init(_ document: JSONValue) { self.document = document }

    /// Every operation: method, path, its object.
    var operations: [(method: String, path: String, operation: JSONValue)] {
        guard case .object(let paths) = document["paths"] else { return [] }
        return paths.flatMap { path -> [(String, String, JSONValue)] in
            guard case .object(let operations) = path.value else { return [] }
            return operations.map { ($0.name.uppercased(), path.name, $0.value) }
        }
    }

    /// The faults of a response: an undocumented status, media type or schema.
    func problem(of response: Response, _ operation: JSONValue) -> String? {
        let code = String(response.head.status.code)
        guard var described = operation["responses"]?[code] else {
            return "status \(code) is not in the document"
        }
        if let reference = described["$ref"]?.string { described = resolve(reference) }
        guard case .object(let contents)? = described["content"] else { return nil }
        let type = response.head.headerFields[.contentType]?.prefix { $0 != ";" } ?? ""
        guard let content = contents.first(where: { $0.name == type || $0.name == "*/*" }) else {
            return "\(code) has the type \(type)"
        }
        guard type.hasSuffix("json"), let schema = content.value["schema"] else { return nil }
        guard let value = try? JSONValue(parsing: response.bytes ?? []) else {
            return "\(code) is not JSON"
        }
        return mismatch(value, schema, at: code)
    }

    /// The faults of a value by a named schema.
    func mismatch(_ value: JSONValue, _ name: String) -> String? {
        mismatch(value, resolve("#/components/schemas/\(name)"), at: name)
    }

    /// What a reference leads to; anything else itself.
    func resolved(_ value: JSONValue) -> JSONValue {
        value["$ref"]?.string.map { resolve($0) } ?? value
    }

    private func resolve(_ reference: String) -> JSONValue {
        reference.dropFirst(2).split(separator: "/").reduce(document) { value, name in
            value[String(name)] ?? .null
        }
    }

    private func mismatch(_ value: JSONValue, _ schema: JSONValue, at place: String) -> String? {
        if let reference = schema["$ref"]?.string {
            return mismatch(value, resolve(reference), at: place)
        }
        if let choices = schema["oneOf"]?.array {
            let problems = choices.map { mismatch(value, $0, at: place) }
            return problems.contains(nil) ? nil : problems.compactMap { $0 }.first
        }
        if let allowed = schema["enum"]?.array, !allowed.contains(value) {
            return "\(place) is \(value.text)"
        }
        let types =
            schema["type"]?.array?.compactMap(\.string)
            ?? schema["type"]?.string.map { [$0] }
        if let types, !types.contains(type(value)) {
            return "\(place) is a \(type(value)) instead of \(types)"
        }
        switch value {
        case .object(let members): return mismatch(members, schema, at: place)
        case .array(let values):
            guard let items = schema["items"] else { return nil }
            for (index, element) in values.enumerated() {
                if let problem = mismatch(element, items, at: "\(place)[\(index)]") {
                    return problem
                }
            }
            return nil
        case .null, .bool, .number, .string: return nil
        }
    }

    private func mismatch(
        _ members: [JSONValue.Member], _ schema: JSONValue, at place: String
    ) -> String? {
        for name in schema["required"]?.array?.compactMap(\.string) ?? []
        where !members.contains(where: { $0.name == name }) {
            return "\(place) lacks \(name)"
        }
        for member in members {
            guard let property = schema["properties"]?[member.name] else {
                if schema["additionalProperties"] == .bool(false) {
                    return "\(place) has an unexpected \(member.name)"
                }
                continue
            }
            if let problem = mismatch(member.value, property, at: "\(place).\(member.name)") {
                return problem
            }
        }
        return nil
    }

    private func type(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .number: "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
