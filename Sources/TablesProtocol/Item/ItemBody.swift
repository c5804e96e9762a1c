/// The JSON object that a client sent with an insert, update or replace, taken apart.
public struct ItemBody: Sendable, Hashable {
    /// The id in the body; nil when absent, null, empty, or 0.
    public var id: ItemID?
    /// The user's columns in the order they came.
    public var columns: Columns
    /// The version in the body of the second generation: a condition where no If-Match came.
    public var version: String?
    /// What the body of the third generation says the item is.
    public var stated: Stated
    /// The deleted mark in the body.
    public var deleted: Bool?
    /// What a JSON Patch tests: members of the item, the server's own too, and their values.
    public var tests: [Columns.Column]
    /// The properties that servers of the third generation do not let an update change: one that
    /// names others than the item's is refused.
    public struct Stated: Sendable, Hashable {
        /// The version.
        public var version: String?
        /// When the item last changed.
        public var updatedAt: Instant?

        /// Makes a statement; without arguments, none.
        public init(version: String? = nil, updatedAt: Instant? = nil) {
            self.version = version
            self.updatedAt = updatedAt
        }
    }

    /// Makes a body from its parts.
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
    /// Takes apart the JSON object that a client of the generation sent.
    ///
    /// System properties are taken out and, but for the version of the second generation and those
    /// that an update of the third may name, dropped: SDKs send them where real servers would refuse
    /// them.
    /// - Throws: ``TablesError`` for malformed JSON, anything but one object, and a bad id.
    public static func parse(
        _ bytes: [UInt8], generation: Generation
    ) throws(TablesError) -> ItemBody {
        let columns: Columns
        do throws(JSONError) { columns = try Columns(parsing: bytes) } catch {
            throw error.reason == .notAnObject ? .notAnObject : .malformedJSON(error)
        }
        return try ItemBody(columns, generation)
    }

    /// Takes a JSON Patch apart: what it sets is the body, and what it tests is kept beside it.
    ///
    /// 1. The operations hold one after the other: of several values of a member the last counts, and a
    ///    test of a member that was set before is decided here.
    /// 2. The deleted mark counts in every generation, since only servers of the third take such a
    ///    patch.
    /// - Throws: ``TablesError`` as ``JSONPatch`` and ``parse(_:generation:)`` do, and for a test that
    ///   cannot hold.
    public static func parse(
        patch bytes: [UInt8], generation: Generation
    ) throws(TablesError) -> ItemBody {
        var set = Columns()
        var tests: [Columns.Column] = []
        for operation in try JSONPatch(parsing: bytes).operations {
            switch operation.action {
            case .add, .replace, .remove: set[operation.name] = operation.value
            case .test:
                guard let value = set[operation.name] else {
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
        for column in columns.all {
            if column.name.utf8.count == 2, column.name.lowercased() == "id" {
                body.id = try Self.id(column)
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

    private static func id(_ column: Columns.Column) throws(TablesError) -> ItemID? {
        guard column.name == "id" else {
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
