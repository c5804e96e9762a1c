/// The JSON object in the body of an insert, update or replace.
public struct ItemBody: Sendable, Hashable {
    /// The id in the body; nil if it is absent, null, empty or 0.
    public var id: ItemID?
    /// The user's columns in the order received.
    public var columns: Columns
    /// The version in a second generation body: a condition if there is no If-Match.
    public var version: String?
    /// System properties in a third generation body. In a PATCH they must equal the item's.
    public var stated: Stated
    /// The value of `deleted` in a third generation body or in a JSON Patch; nil if there is none, and for
    /// every other body.
    public var deleted: Bool?
    /// The tests of a JSON Patch: members of the item, including system properties, and their values.
    public var tests: [Columns.Column]
    /// System properties that an update of the third generation must not change. The servers refuse other
    /// values than the item's.
    public struct Stated: Sendable, Hashable {
        public var version: String?
        /// When the item last changed.
        public var updatedAt: Instant?

        /// Makes a statement; without arguments it states nothing.
        public init(version: String? = nil, updatedAt: Instant? = nil) {
            self.version = version
            self.updatedAt = updatedAt
        }
    }

    public init(
        id: ItemID? = nil, columns: Columns, version: String? = nil, stated: Stated = Stated(),
        deleted: Bool? = nil, tests: [Columns.Column] = []
    ) {
        self.id = id
        self.columns = columns
        self.version = version
        self.stated = stated
        self.deleted = deleted
        self.tests = tests
    }
}

extension ItemBody {
    /// Parses the JSON object that a client of a generation sent.
    ///
    /// System properties are removed from the columns. Only the version (second generation) and the
    /// version, `updatedAt` and `deleted` (third generation) are kept; the others are ignored, because SDKs
    /// send them where real servers would refuse them.
    /// - Throws: ``TablesError`` for malformed JSON, a value that is not one object, an invalid id, and two
    ///   spellings of one property.
    public static func parse(
        _ bytes: [UInt8], generation: Generation
    ) throws(TablesError) -> ItemBody {
        let columns: Columns
        do throws(JSONError) { columns = try Columns(parsing: bytes) } catch {
            throw error.reason == .notAnObject ? .notAnObject : .malformedJSON(error)
        }
        return try ItemBody(columns, generation)
    }

    /// Parses a JSON Patch: its changes become the columns, its tests are kept separately.
    ///
    /// 1. The operations apply in order: of several values of a member, in any spelling, the last counts, and
    ///    a test of a member that was set before is decided here.
    /// 2. `deleted` counts in every generation, because only third generation servers accept a JSON Patch.
    /// - Throws: ``TablesError`` as ``JSONPatch`` and ``parse(_:generation:)`` do, and for a test that
    ///   cannot succeed.
    public static func parse(
        patch bytes: [UInt8], generation: Generation
    ) throws(TablesError) -> ItemBody {
        var set = Columns()
        var tests: [Columns.Column] = []
        var spellings: [ExactName: String] = [:]
        for operation in try JSONPatch(parsing: bytes).operations {
            let key = ExactName(lowercasing: operation.name)
            switch operation.action {
            case .add, .replace, .remove:
                let name = spellings[key] ?? operation.name
                spellings[key] = name
                set[name] = operation.value
            case .test:
                guard let value = spellings[key].flatMap({ set[$0] }) else {
                    tests.append(Columns.Column(operation.name, operation.value))
                    continue
                }
                guard value.isSame(as: operation.value) else {
                    throw .badRequest(
                        "The JSON Patch sets '\(operation.name)' and then tests it for another value."
                    )
                }
            }
        }
        var body = try ItemBody(set, generation, takesDeleted: true)
        body.tests = tests
        return body
    }

    private init(
        _ columns: Columns, _ generation: Generation, takesDeleted: Bool = false
    ) throws(TablesError) {
        var body = ItemBody(columns: Columns())
        var kept: [Columns.Column] = []
        var spellings: [ExactName: String] = [:]
        for column in columns.all {
            let key = ExactName(lowercasing: column.name)
            // Nothing says which of the two values is meant.
            if let other = spellings.updateValue(column.name, forKey: key) {
                throw .badRequest(
                    "'\(other)' and '\(column.name)' are one property. Send it once.")
            }
            if key.text == "id" {
                body.id = try Self.id(column, generation)
            } else if let property = SystemProperty(named: column.name, in: generation) {
                body.take(property, column.value, generation)
                if takesDeleted, property == .deleted { body.deleted = column.value.value.bool }
            } else if generation == .mobileServices, column.name.hasPrefix("__") {
                throw .reservedProperty(column.name)
            } else {
                kept.append(column)
            }
        }
        body.columns = Columns(unique: kept)
        self = body
    }

    private mutating func take(
        _ property: SystemProperty, _ value: JSONText, _ generation: Generation
    ) {
        switch property {
        case .version where generation == .mobileApps:
            version = value.string.flatMap { $0.isEmpty ? nil : $0 }
        case .version where generation == .datasync:
            stated.version = value.string.flatMap { $0.isEmpty ? nil : $0 }
        case .updatedAt where generation == .datasync:
            stated.updatedAt = value.string.flatMap { Instant(iso: $0) }
        case .deleted where generation == .datasync: deleted = value.value.bool
        case .createdAt, .updatedAt, .version, .deleted: break
        }
    }

    /// The id in a body. Servers of the first generation know one spelling of its name, later ones all.
    private static func id(
        _ column: Columns.Column, _ generation: Generation
    ) throws(TablesError) -> ItemID? {
        guard column.name == "id" || generation != .mobileServices else {
            throw .badRequest("Item identifiers can only be specified via the 'id' property.")
        }
        switch column.value.value {
        case .null: return nil
        case .number(let number):
            guard let integer = number.integer else { throw .invalidID(nil) }
            return integer == 0 ? nil : ItemID(integer)
        case .string(let text):
            if text.isEmpty { return nil }
            do throws(ItemID.Refusal) { return try ItemID(text) } catch { throw .invalidID(error) }
        case .bool, .array, .object: throw .invalidID(nil)
        }
    }
}

/// A JSON Patch (RFC 6902) of one item: changes and tests of its members, one level deep. Datasync clients
/// send it for an update.
public struct JSONPatch: Sendable, Hashable {
    public enum Action: String, Sendable, Hashable {
        case add, replace, remove, test
    }

    public struct Operation: Sendable, Hashable {
        public var action: Action
        /// The member's name, without escapes.
        public var name: String
        /// The value as received; null for a removal.
        public var value: JSONText
    }

    public let operations: [Operation]

    /// Parses a patch. As on the servers, names of members and operations are read in any case, and the
    /// path may lack its first slash.
    /// - Throws: ``TablesError`` with a sentence that names the invalid operation by its index from 0.
    public init(parsing bytes: [UInt8]) throws(TablesError) {
        do throws(JSONError) { _ = try JSONText(validating: bytes) } catch {
            throw .malformedJSON(error)
        }
        guard let elements = JSONRows(bytes, named: [])?.rows else {
            throw .badRequest("A JSON Patch is a list of operations.")
        }
        guard elements.count <= Limits.patchOperations else {
            throw .badRequest(
                "A JSON Patch has at most \(Limits.patchOperations) operations.")
        }
        var operations: [Operation] = []
        for (place, element) in elements.enumerated() {
            do throws(Refusal) { operations.append(try Self.operation(element)) } catch {
                throw .badRequest("Operation \(place) of the JSON Patch: \(error.sentence)")
            }
        }
        self.operations = operations
    }

    private struct Refusal: Error {
        let sentence: String
    }

    private static func operation(_ element: JSONRows.Row) throws(Refusal) -> Operation {
        guard let members = element.columns?.all else {
            throw Refusal(sentence: "it is no object, or has a member twice.")
        }
        func member(_ name: String) -> JSONText? {
            members.first { $0.name.lowercased() == name }?.value
        }
        guard let word = member("op")?.string, let path = member("path")?.string else {
            throw Refusal(sentence: "'op' and 'path' must be strings.")
        }
        guard let action = Action(rawValue: word.lowercased()) else {
            throw Refusal(sentence: "'\(word)' is not one of add, replace, remove and test.")
        }
        let name = try name(path)
        if action == .remove { return Operation(action: action, name: name, value: .null) }
        guard let value = member("value") else { throw Refusal(sentence: "it has no value.") }
        return Operation(action: action, name: name, value: value)
    }

    /// The name in a JSON Pointer (RFC 6901) of one level.
    private static func name(_ path: String) throws(Refusal) -> String {
        var rest = path.unicodeScalars[...]
        if rest.first == "/" { rest.removeFirst() }
        guard !rest.isEmpty, !rest.contains("/") else {
            throw Refusal(sentence: "the path '\(path)' does not name a member of the item.")
        }
        var name = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            guard scalar == "~" else {
                name.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "0": name.append("~")
            case "1": name.append("/")
            default: throw Refusal(sentence: "the path '\(path)' has a '~' without 0 or 1.")
            }
        }
        return String(name)
    }
}
