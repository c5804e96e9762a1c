import Platform
import TablesProtocol

/// What a value in a request of the operator API may be. Each is made from a schema in openapi.json.
indirect enum ValueSchema: Sendable, Hashable {
    case boolean
    case integer(ClosedRange<Int64>)
    /// A text of at least so many characters.
    case text(minLength: Int)
    /// A text that is a time (RFC 3339).
    case time
    case word([String])
    /// A list of so many elements.
    case list(ValueSchema, counts: ClosedRange<Int>)
    /// An object with these members and no other.
    case object([Member])
    /// An object with any members, such as a row.
    case row
    /// The value or null.
    case nullable(ValueSchema)

    struct Member: Sendable, Hashable {
        let name: String
        let schema: ValueSchema
        let isRequired: Bool
    }
}

extension ValueSchema {
    /// What fits, for a sentence: "a whole number from 1 to 500".
    var words: String {
        switch self {
        case .boolean: "true or false"
        case .integer(let range):
            switch (range.lowerBound, range.upperBound) {
            case (.min, .max): "a whole number"
            case (let least, .max): "a whole number of at least \(least)"
            case (let least, let most): "a whole number from \(least) to \(most)"
            }
        case .text(let length): length == 0 ? "a text" : "a text that is not empty"
        case .time: "a time such as 2026-03-14T09:26:53.589Z"
        case .word(let words): "one of \(words.joined(separator: ", "))"
        case .list(_, let counts):
            switch (counts.lowerBound, counts.upperBound) {
            case (0, .max): "a list"
            case (_, .max): "a list that is not empty"
            case (let least, let most): "a list of \(least) to \(most) elements"
            }
        case .object, .row: "an object"
        case .nullable(let schema): "\(schema.words) or null"
        }
    }
}

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

// The check of a value.
extension ValueSchema {
    /// Throws the first place of a body that does not fit. A name that an object has twice does not fit,
    /// wherever it is.
    func check(body: JSONValue) throws(Misfit) {
        try Self.checkNames(body, JSONPointer())
        try check(body, JSONPointer())
    }

    private static func checkNames(_ value: JSONValue, _ place: JSONPointer) throws(Misfit) {
        switch value {
        case .null, .bool, .number, .string: return
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try checkNames(element, place.element(index))
            }
        case .object(let members):
            // As bytes, because Swift's strings are equal when they are canonically equivalent.
            var names: Set<[UInt8]> = []
            for member in members {
                let place = place.member(member.name)
                if !names.insert(Array(member.name.utf8)).inserted {
                    throw Misfit(pointer: place, sentence: "\(place.name) is there twice.")
                }
                try checkNames(member.value, place)
            }
        }
    }

    private func check(_ value: JSONValue, _ place: JSONPointer) throws(Misfit) {
        switch (self, value) {
        case (.nullable, .null), (.boolean, .bool), (.row, .object): return
        case (.nullable(let schema), _): try schema.check(value, place)
        case (.integer(let range), .number(let number)):
            guard let integer = number.integer, range.contains(integer) else {
                throw misfit(place)
            }
        case (.text(let length), .string(let text)):
            // Of a long text the characters are not counted.
            if text.prefix(length).count < length {
                throw misfit(place)
            }
        case (.time, .string(let text)):
            if Instant(iso: text) == nil {
                throw misfit(place)
            }
        case (.word(let words), .string(let text)):
            if !words.contains(text) {
                throw misfit(place)
            }
        case (.list(let schema, let counts), .array(let elements)):
            guard counts.contains(elements.count) else {
                throw misfit(place)
            }
            for (index, element) in elements.enumerated() {
                try schema.check(element, place.element(index))
            }
        case (.object(let known), .object(let members)):
            try Self.check(members, known, place)
        case (.boolean, _), (.integer, _), (.text, _), (.time, _), (.word, _), (.list, _),
            (.object, _),
            (.row, _):
            throw misfit(place, ", not \(Self.kind(of: value))")
        }
    }

    private static func check(
        _ members: [JSONValue.Member], _ known: [Member], _ place: JSONPointer
    ) throws(Misfit) {
        for member in members {
            let place = place.member(member.name)
            let schema = known.first { $0.name.utf8.elementsEqual(member.name.utf8) }?.schema
            guard let schema else {
                throw Misfit(
                    pointer: place,
                    sentence: "\(place.name) is not known here"
                        + NearestName.hint(member.name, in: known.map(\.name)))
            }
            try schema.check(member.value, place)
        }
        for wanted in known where wanted.isRequired {
            if members.contains(where: { $0.name == wanted.name }) { continue }
            let place = place.member(wanted.name)
            throw Misfit(
                pointer: place,
                sentence: "\(place.name) is missing; it must be \(wanted.schema.words).")
        }
    }

    private func misfit(_ place: JSONPointer, _ more: String = "") -> Misfit {
        Misfit(pointer: place, sentence: "\(place.name) must be \(words)\(more).")
    }

    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
