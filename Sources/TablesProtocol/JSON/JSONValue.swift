/// A JSON value as a tree, for the places that must look inside; rows pass by as ``JSONText``.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// The members in the order they came.
    case object([Member])

    /// One member of an object.
    public struct Member: Sendable, Hashable {
        /// The name with escapes resolved.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Makes a member.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The value of the member with this name; nil when this is no object or has none.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The text of a string; nil for anything else.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of an integer that fits; nil for anything else.
    public var integer: Int64? {
        if case .number(let number) = self { number.integer } else { nil }
    }

    /// The value of a boolean; nil for anything else.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The elements of an array; nil for anything else.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}
