package import TablesProtocol

/// A value of a request that has a name: a parameter of the query, or a member of the body. It is declared once:
/// requests are checked and read by it, the commands send it, and openapi.json describes it.
package struct Field<Value: Codable & Sendable>: RequestField {
    package let description: FieldDescription

    /// - Parameters:
    ///   - sentence: what it says, in openapi.json.
    ///   - keywords: what openapi.json says of its schema besides. It is not checked.
    init(
        _ name: String, _ schema: ValueSchema, _ sentence: String? = nil,
        isRequired: Bool = false, keywords: KeyValuePairs<String, JSONValue> = [:]
    ) {
        description = FieldDescription(
            name: name, schema: schema, sentence: sentence,
            keywords: keywords.map { .init($0, $1) }, isRequired: isRequired)
    }

    /// The field with a value, for a request; nil without one.
    package func callAsFunction(_ value: Value?) -> JSONValue.Member? {
        value.map { .init(description.name, JSONValue(answer: $0)) }
    }

    /// The field with a value as a person wrote it, which the operator API judges; nil without one.
    package func written(_ text: String?) -> JSONValue.Member? {
        text.map { .init(description.name, .string($0)) }
    }
}

/// A field with any type of value.
package protocol RequestField: Sendable {
    /// What requests are checked by.
    var description: FieldDescription { get }
}

/// What a value of a request may be, and what openapi.json says of it.
package struct FieldDescription: Sendable {
    package let name: String
    let schema: ValueSchema
    var sentence: String?
    var keywords: [JSONValue.Member] = []
    var isRequired = false
}

extension JSONValue {
    /// The value of a field in a checked request; nil where it is not there.
    subscript<Value>(_ field: Field<Value>) -> Value? {
        self[field.description.name].flatMap { try? Value(answer: $0) }
    }

    /// The value of a field that the body must have.
    func required<Value>(_ field: Field<Value>) throws(Problem) -> Value {
        if let value = self[field] { return value }
        let name = field.description.name
        throw .invalid(
            "/\(name) is missing; it must be \(field.description.schema.words).",
            pointer: "/\(name)")
    }
}

/// The fields of several subjects.
package enum Fields {
    /// Whose store is asked.
    package static let identity = Field<String>(
        "identity", .anyText, "Whose store; `anonymous` unless given.")
    package static let after = Field<String>("after", .anyText, "`next` of the page before.")
    package static let limit = Field<Int>(
        "limit", .integer(1...Limits.pageElementsMax),
        "Elements of a page; \(Limits.pageElements) unless given.")
    package static let format = Field<ListFormat>(
        "format", .words(of: ListFormat.self),
        "Write the whole list, not a page, while it is read: as comma-separated values, or each element as "
            + "JSON in a line. Not with `after`, `limit`, `skip` and `top`.")
    package static let wait = Field<Int>(
        "wait", .integer(0...Limits.waitSecondsMax),
        "Seconds to wait for the end; 0 answers 202 at once. \(Limits.waitSeconds) unless given.")
    package static let force = Field<Bool>(
        "force", .boolean, "True: open operations of these rows are discarded too.")
    /// Whether it is only said what would be done.
    package static let dryRun = Field<Bool>("dryRun", .boolean, "True: only count.")

    /// Those that openapi.json describes once.
    static let shared: [any RequestField] = [format, after, limit, identity, wait]
}
