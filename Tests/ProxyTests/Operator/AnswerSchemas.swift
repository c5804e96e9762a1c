import Foundation
import SyncCore
import TablesProtocol

@testable import Proxy

/// The schemas of answers in openapi.json, made from their types: the names, the order and the types of members
/// from what a type decodes, the descriptions from the comments beside them.
struct AnswerSchemas {
    /// The schemas by name.
    private(set) var all: [(name: String, schema: JSONValue)] = []
    private let comments: [String: String]

    /// Makes the schemas of types, and of the types in them.
    /// - Parameter modules: the folders of their modules, whose comments describe them.
    init(of types: [any Decodable.Type], commentsIn modules: [URL]) throws {
        comments = try modules.map(Self.comments).reduce(into: [:]) { all, some in
            all.merge(some) { first, _ in first }
        }
        for type in types { _ = try schema(of: type) }
    }

    /// The name of a type in openapi.json.
    static func name(_ type: any Decodable.Type) -> String {
        let name = "\(type)"
        guard name.hasPrefix("Page<") else { return name }
        return name.dropFirst("Page<".count).dropLast() + "Page"
    }

    // The schema of a value; structs are described beside, and named here.
    fileprivate mutating func schema(of type: any Decodable.Type, at place: String = "")
        throws -> JSONValue
    {
        switch type {
        case is String.Type: return .members(("type", .string("string")))
        case is Bool.Type: return .members(("type", .string("boolean")))
        case is Int.Type, is Int64.Type:
            return .members(("type", .string("integer")), ("minimum", .number(0)))
        case is TableName.Type: return .members(("type", .string("string")))
        case is JSONValue.Type, is JSONText.Type: return .object([])
        case is Columns.Type: return .members(("$ref", .string("#/components/schemas/Item")))
        case is Instant.Type, is OperationKind.Type, is OperationState.Type:
            return .members(("$ref", .string("#/components/schemas/\(type)")))
        case let optional as any OptionalValue.Type:
            return Self.orNull(try schema(of: optional.value, at: place))
        case let list as any ListValue.Type:
            let items = try schema(of: list.element, at: place)
            return .members(("type", .string("array")), ("items", items))
        case let word as any (CaseIterable & RawRepresentable).Type:
            let words = Self.cases(word).map { JSONValue.string($0) }
            return .members(("type", .string("string")), ("enum", .array(words)))
        default:
            let name = Self.name(type)
            let reference: JSONValue = .members(
                ("$ref", .string("#/components/schemas/\(name)")))
            if all.contains(where: { $0.name == name }) { return reference }
            let index = all.count
            all.append((name, .null))
            let recorder = MemberRecorder(
                self, owner: name, isPartial: type is any PartialAnswer.Type)
            _ = try type.init(from: recorder)
            self = recorder.schemas
            all[index].schema = object(recorder, of: type)
            return reference
        }
    }

    private func object(_ recorder: MemberRecorder, of type: any Decodable.Type) -> JSONValue {
        let name = String(String(reflecting: type).prefix { $0 != "<" })
        var members: [JSONValue.Member] = [.init("type", .string("object"))]
        if let comment = comments[name] {
            members.append(.init("description", .string(comment)))
        }
        let properties = recorder.members.map { member -> JSONValue.Member in
            guard case .object(var schema) = member.schema else { return .init("", .null) }
            if let comment = comments["\(name).\(member.key.stringValue)"] {
                schema.append(.init("description", .string(comment)))
            }
            return .init(member.key.nameInAnswers, .object(schema))
        }
        let required = recorder.members.filter(\.isRequired).map {
            JSONValue.string($0.key.nameInAnswers)
        }
        members += [
            .init("properties", .object(properties)), .init("required", .array(required)),
            .init("additionalProperties", .bool(false)),
        ]
        return .object(members)
    }

    fileprivate static func orNull(_ schema: JSONValue) -> JSONValue {
        let null = JSONValue.members(("type", .string("null")))
        guard case .object(var members) = schema, schema["enum"] == nil, let type = schema["type"]
        else {
            return schema == .object([]) ? schema : .members(("oneOf", .array([schema, null])))
        }
        members[0] = .init("type", .array([type, .string("null")]))
        return .object(members)
    }

    fileprivate static func cases<Word: CaseIterable & RawRepresentable>(
        _ type: Word.Type
    ) -> [String] { type.allCases.compactMap { $0.rawValue as? String } }

    /// The comments of the types of a module and of their members, by names such as `Module.Type.member`.
    private static func comments(in module: URL) throws -> [String: String] {
        var found: [String: String] = [:]
        let files = FileManager.default.enumerator(at: module, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            var lines: [String] = []
            var types = [(indent: -1, name: module.lastPathComponent)]
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                if words.first == "///" {
                    lines.append(words.dropFirst().joined(separator: " "))
                    continue
                }
                let comment = lines.isEmpty ? nil : lines.joined(separator: " ")
                lines = []
                let indent = line.prefix { $0 == " " }.count
                guard let kind = words.firstIndex(where: kinds.contains), words.count > kind + 1
                else { continue }
                types.removeAll { $0.indent >= indent }
                let last = words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." }
                let name = "\(types[types.count - 1].name).\(last)"
                if !["let", "var"].contains(words[kind]) { types.append((indent, name)) }
                if ["package", "public"].contains(words[0]) { found[name] = comment }
            }
        }
        return found
    }

    private static let kinds: Set = ["struct", "enum", "class", "actor", "extension", "let", "var"]
}

// What a type of the standard library is made of.
private protocol OptionalValue { static var value: any Decodable.Type { get } }
extension Optional: OptionalValue where Wrapped: Decodable {
    static var value: any Decodable.Type { Wrapped.self }
}
private protocol ListValue { static var element: any Decodable.Type { get } }
extension Array: ListValue where Element: Decodable {
    static var element: any Decodable.Type { Element.self }
}

/// Records the members that a type decodes, and gives it a value for each.
private final class MemberRecorder: Decoder {
    var schemas: AnswerSchemas
    let owner: String
    let isPartial: Bool
    private(set) var members: [(key: any CodingKey, schema: JSONValue, isRequired: Bool)] = []
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ schemas: AnswerSchemas, owner: String = "", isPartial: Bool = false) {
        self.schemas = schemas
        self.owner = owner
        self.isPartial = isPartial
    }

    struct NotHere: Error {}

    func note(_ type: any Decodable.Type, _ key: any CodingKey, mayLack: Bool) throws {
        let schema = try schemas.schema(of: type, at: "\(owner).\(key.nameInAnswers)")
        members.append(
            (
                key, mayLack && !isPartial ? AnswerSchemas.orNull(schema) : schema,
                !(mayLack && isPartial)
            ))
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Members(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotHere() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NotHere() }

    struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let recorder: MemberRecorder
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }
        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try recorder.note(type, key, mayLack: false)
            return try Sample.value(type, recorder.schemas)
        }

        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws
            -> Value?
        {
            try recorder.note(type, key, mayLack: true)
            return nil
        }

        // Those of the standard library ask for a value.
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
            try note(type, key)
        }
        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
            try note(type, key)
        }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
            try note(type, key)
        }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
            try note(type, key)
        }

        private func note<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
            try recorder.note(type, key, mayLack: true)
            return nil
        }

        func nestedContainer<Inner>(
            keyedBy type: Inner.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Inner> { throw NotHere() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw NotHere()
        }
        func superDecoder() throws -> any Decoder { throw NotHere() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw NotHere() }
    }

    /// Any value of a type.
    enum Sample {
        static func value<Value: Decodable>(
            _ type: Value.Type, _ schemas: AnswerSchemas
        ) throws -> Value {
            let plain: Any? =
                switch type {
                case is String.Type: ""
                case is Bool.Type: false
                case is Int.Type: 0
                case is Int64.Type: Int64(0)
                case is JSONValue.Type: JSONValue.null
                case is Instant.Type: Instant(iso: "2026-03-14T09:26:53.589Z")
                case is Columns.Type: Columns()
                case is TableName.Type: TableName("t")
                default: nil
                }
            if let value = plain as? Value { return value }
            if type is any ListValue.Type, let none = [Never]() as? Value { return none }
            if let word = type as? any CaseIterable.Type, let first = first(word) as? Value {
                return first
            }
            return try Value(from: MemberRecorder(schemas))
        }

        private static func first<Word: CaseIterable>(_ type: Word.Type) -> Any? {
            type.allCases.first
        }
    }
}
