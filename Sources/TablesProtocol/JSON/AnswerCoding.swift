extension JSONValue {
    /// The JSON of an answer.
    package init(answer: some Encodable) {
        do {
            self = try AnswerEncoder.json(of: answer)
        } catch {
            preconditionFailure("An answer has no value that cannot be encoded: \(error)")
        }
    }
}

extension Decodable {
    /// Reads an answer.
    package init(answer: JSONValue) throws(AnswerProblem) {
        do {
            self = try AnswerDecoder(value: answer, place: "").read(Self.self)
        } catch let problem as AnswerProblem {
            throw problem
        } catch {
            throw AnswerProblem(sentence: "\(error)")
        }
    }
}

/// An answer whose members are absent, not null, where they have no value.
public protocol PartialAnswer: Codable {}

extension CodingKey {
    /// The name of a member in the JSON of an answer: `itemId` for Swift's `itemID`.
    package var nameInAnswers: String {
        stringValue.hasSuffix("ID") ? stringValue.dropLast(2) + "Id" : stringValue
    }
}

/// Why a JSON value is not the answer that was expected.
package struct AnswerProblem: Error, Sendable, Hashable {
    /// One sentence, which names the place.
    package let sentence: String
}

/// Makes the JSON of an answer. Numbers stay exact, and a JSON value stays as it is. It is itself the container
/// of a list and of a single value: one generic method stands for those of all types.
private final class AnswerEncoder: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
    private var value = JSONValue.null
    private var members: [JSONValue.Member]?
    private var elements: [JSONValue]?
    /// Whether a member without a value is absent.
    private let isPartial: Bool
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { elements?.count ?? 0 }

    private init(isPartial: Bool) { self.isPartial = isPartial }

    static func json(of value: some Encodable) throws -> JSONValue {
        switch value {
        case let value as JSONValue: return value
        case let text as String: return .string(text)
        case let number as Int: return .number(number)
        case let number as Int64: return .number(number)
        case let bool as Bool: return .bool(bool)
        default:
            let encoder = AnswerEncoder(isPartial: value is any PartialAnswer)
            try value.encode(to: encoder)
            return encoder.members.map { .object($0) } ?? encoder.elements.map { .array($0) }
                ?? encoder.value
        }
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A second one adds members to the first.
        if members == nil { members = [] }
        return KeyedEncodingContainer(Members(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        elements = []
        return self
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { take(.null) }
    func encode(_ value: some Encodable) throws { take(try Self.json(of: value)) }

    private func take(_ json: JSONValue) {
        if elements == nil { value = json } else { elements?.append(json) }
    }

    func nestedContainer<Inner>(
        keyedBy type: Inner.Type
    ) -> KeyedEncodingContainer<Inner> { preconditionFailure(Self.unused) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        preconditionFailure(Self.unused)
    }

    func superEncoder() -> any Encoder { self }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: AnswerEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { take(.null, key) }

        func encode(_ value: some Encodable, forKey key: Key) throws {
            take(try AnswerEncoder.json(of: value), key)
        }

        private func take(_ json: JSONValue, _ key: Key) {
            encoder.members?.append(.init(key.nameInAnswers, json))
        }

        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            try put(value, key)
        }

        // The standard library's leave a member out.
        func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
        func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
        func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }

        private func put(_ value: (some Encodable)?, _ key: Key) throws {
            if let value {
                try encode(value, forKey: key)
            } else if !encoder.isPartial {
                encodeNil(forKey: key)
            }
        }

        func nestedContainer<Inner>(
            keyedBy type: Inner.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Inner> { preconditionFailure(AnswerEncoder.unused) }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            preconditionFailure(AnswerEncoder.unused)
        }

        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }

    private static let unused = "Answers are structs in structs, which need no nested container."
}

/// Reads an answer from its JSON. A member that is missing is an error, also where it may be null; other
/// members are not looked at.
private struct AnswerDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    /// Where the value is: names and indexes with points between them; empty for the whole answer.
    let place: String
    /// Whether a member may be absent.
    private var isPartial = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(value: JSONValue, place: String) {
        self.value = value
        self.place = place
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let found: Any?
        switch type {
        case is JSONValue.Type: found = value
        case is String.Type: found = value.string
        case is Int.Type: found = value.integer.flatMap { Int(exactly: $0) }
        case is Int64.Type: found = value.integer
        case is Bool.Type: found = value.bool
        default:
            var decoder = self
            decoder.isPartial = type is any PartialAnswer.Type
            return try Value(from: decoder)
        }
        guard let found = found as? Value else { throw misfit }
        return found
    }

    var misfit: AnswerProblem {
        AnswerProblem(sentence: "\(place.isEmpty ? "It" : place) has another form.")
    }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object = value else { throw misfit }
        return KeyedDecodingContainer(Members(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.array else { throw misfit }
        return Elements(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { value == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }

    private func inner(_ value: JSONValue, _ name: String) -> AnswerDecoder {
        AnswerDecoder(value: value, place: place.isEmpty ? name : "\(place).\(name)")
    }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: AnswerDecoder
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { decoder.value[key.nameInAnswers] != nil }

        func member(_ key: Key) throws -> AnswerDecoder {
            guard let value = decoder.value[key.nameInAnswers] else {
                let place = decoder.place.isEmpty ? "It" : decoder.place
                throw AnswerProblem(sentence: "\(place) has no \(key.nameInAnswers).")
            }
            return decoder.inner(value, key.nameInAnswers)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try member(key).value == .null }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try member(key).read(type)
        }

        func decodeIfPresent<Value: Decodable>(
            _ type: Value.Type, forKey key: Key
        ) throws -> Value? { try take(key) }

        // The standard library's take a missing member for null.
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
            try take(key)
        }
        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try take(key) }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try take(key) }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
            try take(key)
        }

        private func take<Value: Decodable>(_ key: Key) throws -> Value? {
            if decoder.isPartial { return contains(key) ? try member(key).read(Value.self) : nil }
            let member = try member(key)
            return member.value == .null ? nil : try member.read(Value.self)
        }

        func nestedContainer<Inner>(
            keyedBy type: Inner.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Inner> { try member(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try member(key).unkeyedContainer()
        }

        func superDecoder() -> any Decoder { decoder }
        func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let decoder: AnswerDecoder
        let elements: [JSONValue]
        private(set) var currentIndex = 0
        var codingPath: [any CodingKey] { [] }
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex == elements.count }

        init(decoder: AnswerDecoder, elements: [JSONValue]) {
            self.decoder = decoder
            self.elements = elements
        }

        private mutating func next() throws -> AnswerDecoder {
            guard !isAtEnd else { throw decoder.misfit }
            defer { currentIndex += 1 }
            return decoder.inner(elements[currentIndex], String(currentIndex))
        }

        mutating func decodeNil() throws -> Bool {
            guard !isAtEnd, elements[currentIndex] == .null else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try next().read(type)
        }

        mutating func nestedContainer<Inner>(
            keyedBy type: Inner.Type
        ) throws -> KeyedDecodingContainer<Inner> { try next().container(keyedBy: type) }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try next().unkeyedContainer()
        }

        mutating func superDecoder() throws -> any Decoder { try next() }
    }
}

// Values that are coded in a way of their own.

extension JSONValue: Codable {
    /// Encodes the value as it is into an answer, and as its text elsewhere: Swift Testing encodes the
    /// arguments of tests.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if encoder is AnswerEncoder {
            try container.encode(self)
        } else {
            try container.encode(text)
        }
    }

    /// Decodes what ``encode(to:)`` has encoded.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if decoder is AnswerDecoder {
            self = try container.decode(JSONValue.self)
        } else {
            self = try JSONValue(parsing: container.decode(String.self))
        }
    }
}

extension JSONText: Codable {
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

    public init(from decoder: any Decoder) throws {
        self.init(trusted: try JSONValue(from: decoder).text)
    }
}

extension Columns: Codable {
    /// Encodes the object; one without columns where the store is damaged.
    public func encode(to encoder: any Encoder) throws {
        let object: JSONValue? =
            isParsed
            ? .object(all.map { .init($0.name, $0.value.value) })
            : try? JSONValue(parsing: Array(text.utf8), names: .mayRepeat)
        try (object ?? .object([])).encode(to: encoder)
    }

    public init(from decoder: any Decoder) throws {
        self.init(stored: try JSONValue(from: decoder).text)
    }
}

extension TableName: Codable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let name = TableName(text) else {
            throw AnswerProblem(sentence: "\"\(text)\" is no name of a table.")
        }
        self = name
    }
}

extension Instant: Codable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = Instant(iso: text) else {
            throw AnswerProblem(sentence: "\"\(text)\" is no time.")
        }
        self = time
    }
}

// Constructors for JSON that has no type of its own.
extension JSONValue {
    /// An object from its members.
    package static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { .init($0.0, $0.1) })
    }

    package static func number(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }
    package static func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    package static func time(_ value: Instant?) -> JSONValue {
        value.map { .string($0.text) } ?? .null
    }
}
