import TablesProtocol

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
