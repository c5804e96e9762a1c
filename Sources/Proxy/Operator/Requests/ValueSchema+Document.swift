import TablesProtocol

// The schemas of requests in openapi.json, with the keywords that are used there.
extension ValueSchema {
    /// A keyword or a form that this reader does not know. No request may have it: it would not be checked.
    struct Unreadable: Error, Sendable, Hashable {
        let sentence: String
    }

    /// Reads a schema.
    /// - Parameter document: the document that the schema's references lead into.
    init(_ schema: JSONValue, in document: JSONValue) throws(Unreadable) {
        if let reference = schema["$ref"]?.string {
            self = try ValueSchema(Self.resolve(reference, in: document), in: document)
            return
        }
        if let choices = schema["oneOf"]?.array {
            guard choices.count == 2, choices[1] == Self.null else {
                throw Unreadable(sentence: "oneOf is for a value or null: \(schema.text)")
            }
            self = .nullable(try ValueSchema(choices[0], in: document))
            return
        }
        if case .array(let kinds)? = schema["type"] {
            guard kinds.count == 2, let kind = kinds[0].string, kinds[1] == .string("null") else {
                throw Unreadable(sentence: "A list of types is one type and null: \(schema.text)")
            }
            self = .nullable(try Self.read(kind, schema, document))
            return
        }
        self = try Self.read(schema["type"]?.string ?? "none", schema, document)
    }

    /// What a reference such as `#/components/schemas/Revision` leads to.
    static func resolve(_ reference: String, in document: JSONValue) -> JSONValue {
        reference.dropFirst(2).split(separator: "/").reduce(document) { value, name in
            value[String(name)] ?? .null
        }
    }

    private static let null: JSONValue = .members(("type", .string("null")))

    private static func read(
        _ kind: String, _ schema: JSONValue, _ document: JSONValue
    ) throws(Unreadable) -> ValueSchema {
        let schema = Keywords(schema)
        switch kind {
        case "boolean":
            try schema.allow([])
            return .boolean
        case "integer":
            // A multiple is checked where the number is used.
            try schema.allow(["minimum", "maximum", "multipleOf"])
            return .integer(
                (schema.number("minimum") ?? .min)...(schema.number("maximum") ?? .max))
        case "string":
            if schema.value["format"] == .string("date-time") {
                try schema.allow(["format"])
                return .time
            }
            // A pattern is checked where the text is used.
            try schema.allow(["enum", "minLength", "pattern"])
            if let words = schema.value["enum"]?.array { return .word(words.compactMap(\.string)) }
            return .text(minLength: Int(schema.number("minLength") ?? 0))
        case "array":
            try schema.allow(["items", "minItems", "maxItems"])
            let least = Int(schema.number("minItems") ?? 0)
            let most = schema.number("maxItems").map { Int($0) } ?? .max
            return .list(
                try ValueSchema(schema.value["items"] ?? .null, in: document),
                counts: least...most)
        case "object":
            try schema.allow(["properties", "required", "additionalProperties"])
            return try object(schema.value, document)
        default: throw Unreadable(sentence: "This type is not for requests: \(schema.value.text)")
        }
    }

    private static func object(
        _ schema: JSONValue, _ document: JSONValue
    ) throws(Unreadable) -> ValueSchema {
        switch (schema["properties"], schema["additionalProperties"]) {
        case (nil, .bool(true)): return .row
        case (.object(let properties), .bool(false)):
            let required = schema["required"]?.array?.compactMap(\.string) ?? []
            var members: [Member] = []
            for property in properties {
                members.append(
                    Member(
                        name: property.name,
                        schema: try ValueSchema(property.value, in: document),
                        isRequired: required.contains(property.name)))
            }
            return .object(members)
        default:
            throw Unreadable(
                sentence: "An object says its members and additionalProperties false, or only "
                    + "additionalProperties true: \(schema.text)")
        }
    }

    /// The keywords of one schema.
    private struct Keywords {
        let value: JSONValue
        private static let always: Set<String> = ["type", "description", "examples", "default"]

        init(_ value: JSONValue) { self.value = value }

        func number(_ name: String) -> Int64? { value[name]?.integer }

        /// Throws for a keyword that is not one of these.
        func allow(_ names: [String]) throws(Unreadable) {
            guard case .object(let members) = value else { return }
            for member in members where !Self.always.contains(member.name) {
                if names.contains(member.name) { continue }
                throw Unreadable(sentence: "\(member.name) is not checked: \(value.text)")
            }
        }
    }
}
