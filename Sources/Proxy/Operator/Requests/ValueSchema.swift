import Platform
import TablesProtocol

/// What a value in a request of the operator API may be.
package indirect enum ValueSchema: Sendable {
    case boolean
    case integer(ClosedRange<Int>)
    /// A text of at least so many characters.
    case text(minLength: Int)
    /// A text that is a time (RFC 3339).
    case time
    /// One of some words. They may have a name in openapi.json.
    case word([String], name: String? = nil)
    /// A list of so many elements.
    case list(ValueSchema, counts: ClosedRange<Int> = 0...Int.max)
    /// An object with these members and no other. It may have a name in openapi.json.
    case object([FieldDescription], name: String? = nil)
    /// An object with any members, such as a row.
    case row
    /// The value or null.
    case nullable(ValueSchema)

    static let anyText = ValueSchema.text(minLength: 0)
    static let someText = ValueSchema.text(minLength: 1)
    static let anyInteger = ValueSchema.integer(.min ... .max)

    static func words<Word: RawRepresentable & CaseIterable>(
        of type: Word.Type, name: String? = nil
    ) -> ValueSchema where Word.RawValue == String {
        .word(type.allCases.map(\.rawValue), name: name)
    }

    static func object(_ fields: [any RequestField], name: String? = nil) -> ValueSchema {
        .object(fields.map(\.description), name: name)
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
        case .word(let words, _): "one of \(words.joined(separator: ", "))"
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
            guard let integer = number.integer, range.contains(Int(integer)) else {
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
        case (.word(let words, _), .string(let text)):
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
        case (.object(let known, _), .object(let members)):
            try Self.check(members, known, place)
        case (.boolean, _), (.integer, _), (.text, _), (.time, _), (.word, _), (.list, _),
            (.object, _),
            (.row, _):
            throw misfit(place, ", not \(Self.kind(of: value))")
        }
    }

    private static func check(
        _ members: [JSONValue.Member], _ known: [FieldDescription], _ place: JSONPointer
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
