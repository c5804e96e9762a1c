import TablesProtocol

/// What a value in a request of the operator API may be. Each is made from a schema in openapi.json.
indirect enum ValueSchema: Sendable, Hashable {
    case boolean
    case integer(ClosedRange<Int64>)
    /// A text of at least so many characters.
    case text(minLength: Int)
    /// A text that is a time (RFC 3339).
    case time
    /// One of these texts.
    case word([String])
    /// A list of so many elements.
    case list(ValueSchema, counts: ClosedRange<Int>)
    /// An object with these members and no other.
    case object([Member])
    /// An object with any members, such as a row.
    case row
    /// The value or null.
    case nullable(ValueSchema)

    /// A member of an object.
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
