import SyncCore
package import TablesProtocol

// Constructors for JSON that has no type of its own.
extension JSONValue {
    /// An object from its members.
    package static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { .init($0.0, $0.1) })
    }

    /// A whole number.
    package static func number(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }

    /// A whole number.
    package static func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

    /// A whole number or null.
    package static func number(_ value: Int?) -> JSONValue { value.map { .number($0) } ?? .null }

    /// A whole number or null.
    package static func number(_ value: Int64?) -> JSONValue { value.map { .number($0) } ?? .null }

    /// A text or null.
    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// A time or null.
    package static func time(_ value: Instant?) -> JSONValue {
        value.map { .string($0.text) } ?? .null
    }

    /// A stored row or value, or null.
    package static func row(_ value: JSONText?) -> JSONValue { value?.value ?? .null }
}
