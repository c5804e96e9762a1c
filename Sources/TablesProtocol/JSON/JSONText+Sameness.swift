extension JSONText {
    /// Whether both are the same JSON value: numbers as exact decimals (`1.10` and `11e-1`), two
    /// dates with zones as instants, objects whatever the order of their members.
    public func isSame(as other: JSONText) -> Bool {
        self == other || value.isSame(as: other.value)
    }
}

extension JSONValue {
    /// Whether both are the same value, as ``JSONText/isSame(as:)`` says.
    public func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.number(let left), .number(let right)): return left == right
        case (.string(let left), .string(let right)): return Self.isSame(left, right)
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)): return Self.isSame(left, right)
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _):
            return false
        }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        if left.hasSameBytes(as: right) { return true }
        guard let first = Instant(iso: left), let second = Instant(iso: right) else { return false }
        return first == second
    }

    private static func isSame(_ left: [Member], _ right: [Member]) -> Bool {
        guard left.count == right.count else { return false }
        let byName: (Member, Member) -> Bool = {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
        return zip(left.sorted(by: byName), right.sorted(by: byName)).allSatisfy {
            $0.name.hasSameBytes(as: $1.name) && $0.value.isSame(as: $1.value)
        }
    }
}
